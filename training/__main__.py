"""The recipe's one command: python -m training pretrain CONFIG.toml"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from inference.errors import Refusal


def main(arguments: list[str] | None = None) -> int:
    """Runs what the command line asks; a refusal is one sentence on the terminal and a 1."""
    asked = _parser().parse_args(arguments)
    try:
        from training import config, export, loop

        settings = config.read(asked.config)
        if asked.command == "pretrain":
            loop.pretrain(settings, stop_after=asked.stop_after, finish_in=asked.finish_in)
        else:
            export.export(settings, asked.folder, pairs=asked.pairs, further=asked.further)
    except Refusal as refusal:
        print(refusal.message, file=sys.stderr)
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m training", description="Pre-trains a BERT with both heads.")
    commands = parser.add_subparsers(dest="command", required=True)
    pretrain = commands.add_parser("pretrain", help="start a run, or go on with it")
    export = commands.add_parser("export", help="write the model as a folder, with its scores and its card")
    for command in (pretrain, export):
        command.add_argument("config", type=Path, help="a TOML file; docs/TRAINING.md says what it holds")
    pretrain.add_argument("--stop-after", type=float, metavar="MINUTES", help="stop then, to be resumed")
    pretrain.add_argument(
        "--finish-in", type=float, metavar="MINUTES", help="the rate reaches 0 then, not at the last step"
    )
    export.add_argument("folder", type=Path, help="where to write")
    export.add_argument("--pairs", type=int, default=2_000, help="pairs to score on, of each held-out source")
    export.add_argument("--further", type=Path, metavar="JSON", help="more scores, taken into the card as they are")
    return parser


if __name__ == "__main__":
    sys.exit(main())
