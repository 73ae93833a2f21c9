"""The command `python -m probing score FILE --format conllu|gap|csv --model ID`: scores of heads on annotations."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from inference.errors import Parser, UserError, hide_details, report
from inference.request import EMBEDDED
from probing import command, formats

STATUS = """exit status: 0 when it is done; 2 for a file, a format or a model that cannot be used; 130 when it was
stopped. A stopped run continues where it was when the same command is given again."""


def main(arguments: Sequence[str] | None = None, name: str = "python -m probing") -> int:
    """Run the command line and return its exit status; usage messages show ``name`` as the program."""
    asked = _parser(name).parse_args(arguments)
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    hide_details()
    try:
        print(command.run(asked))
    except UserError as refusal:
        print(refusal.message, file=sys.stderr)
        return 2
    except OSError as error:
        return report(error)
    except KeyboardInterrupt:
        kept = asked.json or asked.csv or asked.control
        print("Stopped." + " The same command continues where this one was." * bool(kept), file=sys.stderr)
        return 130
    return 0


def _parser(name: str) -> argparse.ArgumentParser:
    parser = Parser(prog=name, description=__doc__, epilog=STATUS)
    commands = parser.add_subparsers(required=True)
    score = commands.add_parser("score", help="score every head of a model on annotated sentences", epilog=STATUS)
    score.add_argument("file", type=Path, metavar="FILE", help="annotated sentences")
    known = "; ".join(f"{name}: {what}" for name, what in formats.NAMES.items())
    score.add_argument("--format", required=True, choices=list(formats.FORMATS), help=known)
    score.add_argument("--encoding", default="", metavar="NAME", help="of the files, such as cp1252; found if left out")
    score.add_argument("--model", default=EMBEDDED, metavar="ID", help="a hub id or a folder; %(default)s without it")
    score.add_argument("--revision", metavar="NAME", help="a branch, tag or commit of a hub model")
    score.add_argument("--download", action="store_true", help="fetch a hub model that is not on this machine")
    score.add_argument(
        "--split-file", type=Path, metavar="FILE",
        help="other sentences in the same format, on which heads, directions and offsets are chosen; without it the"
        " summary chooses on half of the sentences of FILE and reports on the rest",
    )  # fmt: skip
    score.add_argument("--control", type=Path, metavar="OUT", help="score random weights too; their rows, as JSON")
    score.add_argument("--json", type=Path, metavar="OUT", help="where the rows are written, as a JSON list")
    score.add_argument("--csv", type=Path, metavar="OUT", help="where the rows are written, as CSV")
    return parser


if __name__ == "__main__":
    sys.exit(main())
