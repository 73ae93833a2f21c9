"""Functions that the commands share: options and values of texts, models, heads and files."""

from __future__ import annotations

import argparse
import json
import os
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from attention.excess import PositionalPrior
from attention.head_names import parse_head
from attention.pictures import Picture
from attention.trace import Trace
from inference.backend import LocalBackend
from inference.catalogue.listing import find_reader
from inference.errors import UserError
from inference.request import EMBEDDED, TraceRequest
from inference.text.encoding import check_known
from probing.command import ensure_downloaded, open_backend, print_code_notes
from probing.reference_priors import load_priors


class CommandError(ValueError):
    """Raised if a command cannot be carried out; the message is a single sentence."""


def add_text_options(parser: argparse.ArgumentParser) -> None:
    """Add the options for further inputs of a model, such as a second text."""
    parser.add_argument("--pair", metavar="TEXT", help="a second text, read together with the first")
    parser.add_argument("--target-text", metavar="TEXT", help="the translation; without it, the model writes it")
    parser.add_argument("--truncate", action="store_true", help="read the first tokens of a text that is too long")


def add_model_option(parser: argparse.ArgumentParser) -> None:
    """Add the option that selects the model."""
    parser.add_argument("--model", metavar="ID", help=f"of the hub, or a folder; {EMBEDDED} without it")


def add_hub_options(parser: argparse.ArgumentParser) -> None:
    """Add the options for models from the hub, such as the revision."""
    parser.add_argument("--revision", metavar="NAME", help="a branch, tag or commit of a hub model")
    parser.add_argument("--download", action="store_true", help="fetch a hub model that is not on this machine")


def add_result_options(parser: argparse.ArgumentParser, content: str) -> None:
    """Add the options of a command that prints a summary: the model, and a JSON file for the full result.

    ``content`` describes the content of the file in the help.
    """
    add_model_option(parser)
    add_hub_options(parser)
    parser.add_argument("--json", type=Path, metavar="FILE", help=f"write {content} to a file")


def open_model(asked: argparse.Namespace) -> tuple[LocalBackend, str]:
    """Open the model that the options name; return a backend and the name by which it has the model.

    The model is downloaded if the options allow it. Notes on program code of the model are printed. Raise UserError if
    the model cannot be opened.
    """
    backend, model = open_backend(asked.model or EMBEDDED)
    ensure_downloaded(backend, model, asked.revision, asked.download)
    print_code_notes(backend, model, asked.revision)
    return backend, model


def request_of(asked: argparse.Namespace, model: str) -> TraceRequest:
    """Return the trace request for the texts and the revision in the options of a command."""
    return TraceRequest(
        model=model,
        revision=asked.revision,
        text=text_of(asked.text) or "",
        pair=text_of(asked.pair),
        target=text_of(asked.target_text),
    )


@cache
def shared_backend(model: str) -> tuple[LocalBackend, str]:
    """Return a backend for ``model``, and the name by which the backend has the model.

    Later calls from Python get the same backend, so that the model stays in memory.
    """
    return open_backend(model)


def read_trace(backend: LocalBackend, request: TraceRequest, truncate: bool) -> Trace:
    """Return the trace of a text.

    If ``truncate`` is set, a text that is too long is cut to the length limit of the model. Raise CommandError or
    UserError if the text cannot be read, or if the model does not know its words.
    """
    try:
        trace = backend.trace(request)
    except UserError as refusal:
        if refusal.way_out != "cut":
            raise
        if not truncate:
            raise CommandError(f"{refusal.message} To read the beginning, add --truncate.") from refusal
        trace = backend.trace(replace(request, cut=int(refusal.details["limit"])))
    try:
        check_known(request.model, trace.source, trace.target)
    except UserError as refusal:
        better = find_reader(backend.models(), refusal.details["unknown"], trace.model.kind)
        if better is None:
            raise
        option = f"--model {better.id}{'' if better.downloaded else ' --download'}"
        raise CommandError(f"{refusal.message} For example, add {option}.") from refusal
    return trace


def positional_prior_of(backend: LocalBackend, request: TraceRequest, trace: Trace) -> PositionalPrior | None:
    """Return the positional prior of each head in the trace's stack, or None if it is unknown.

    The prior is the mean weight that the head gives to each position in other texts. It is stored for the model or
    measured on sample texts. With it, the default head is the same as in the app.
    """
    try:
        return load_priors(backend, request.model, request.revision, trace.model.kind).get(trace.part)
    except UserError:
        return None


def head_of(layer: int | None, head: str | None) -> tuple[int | None, int | None]:
    """Return the layer and the head that the options --layer and --head name; (None, None) if both are missing.

    Raise CommandError if the options do not name a single head.

    >>> head_of(3, "1"), head_of(None, "3-1"), head_of(None, "L3H1"), head_of(None, None)
    ((3, 1), (3, 1), (3, 1), (None, None))
    """
    if layer is None and head is None:
        return None, None
    both = parse_head(head or "")
    if both is not None and layer in (None, both[0]):
        return both
    if both is not None:
        raise CommandError(f"--layer {layer} and --head {head} name two layers. Leave --layer out.")
    if layer is None or head is None:
        raise CommandError("A head has two numbers: give --layer 3 --head 1, or --head 3-1.")
    try:
        return layer, int(head)
    except ValueError as error:
        raise CommandError(f"--head {head} is not a head. Give its number, or layer and head: 3-1.") from error


def text_of(given: str | None) -> str | None:
    """Return the text that a command-line argument gives; for "-", read it from standard input.

    Raise CommandError if its bytes are not UTF-8 (Python represents such bytes by lone surrogates).
    """
    if given == "-":
        return _decode_text(sys.stdin.buffer.read(), "The piped text").strip()
    return None if given is None else label_of(given)


def label_of(given: str) -> str:
    """Return a command-line argument for display, such as a title; raise CommandError if it is not UTF-8."""
    return _decode_text(os.fsencode(given), "The text")


def _decode_text(raw: bytes, source: str) -> str:
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise CommandError(
            f"{source} is not UTF-8: byte {error.start + 1:,} is 0x{raw[error.start]:02X}."
            " Convert it first, for example with: iconv -f latin1 -t utf-8"
        ) from error


def read_picture(file: Path) -> Picture:
    """Return the picture in a PNG, JPEG or WebP file; raise CommandError or UserError if it cannot be read."""
    from inference.pictures.image_files import MOST_BYTES, open_picture  # pillow, which other commands do not need

    try:
        with file.open("rb") as source:
            return open_picture(source.read(MOST_BYTES + 1))
    except OSError as error:
        raise CommandError(f"{file} cannot be read: {error.strerror}.") from error


def refuse_unwritable(file: Path) -> None:
    """Raise CommandError if a file cannot be written."""
    folder = file.absolute().parent
    if file.is_dir() or not folder.is_dir() or not os.access(file if file.exists() else folder, os.W_OK):
        raise CommandError(f"{file} cannot be written. Give a file in a folder that exists and may be written to.")


def write_file(file: Path, content: bytes) -> None:
    """Write a file; raise CommandError if that fails."""
    try:
        file.write_bytes(content)
    except OSError as error:
        raise CommandError(f"{file} cannot be written: {error.strerror}.") from error


def write_json(file: Path, found: dict[str, Any]) -> None:
    """Write a result to a file as JSON; raise CommandError if that fails."""
    write_file(file, (json.dumps(found, ensure_ascii=False, indent=1) + "\n").encode())


def deliver_result(asked: argparse.Namespace, found: dict[str, Any], summary: str) -> int:
    """Print the summary of a result and return the exit status.

    If the options name a file, write the result ``found`` into it as JSON.
    """
    if asked.json is not None:
        write_json(asked.json, found)
    print(summary)
    return 0
