"""Texts, heads and files that the commands take as arguments."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path

from attention.head_names import parse_head
from attention.trace import Trace
from inference.backend import LocalBackend
from inference.catalogue.listing import find_reader
from inference.errors import UserError
from inference.request import TraceRequest
from inference.text.encoding import check_known
from probing.command import open_backend


class CommandError(ValueError):
    """Raised if a command cannot be carried out; the message is one sentence."""


@cache
def shared_backend(model: str) -> tuple[LocalBackend, str]:
    """Return a backend that keeps the model for later calls in Python, and the model's name in it."""
    return open_backend(model)


def read_trace(backend: LocalBackend, request: TraceRequest, truncate: bool) -> Trace:
    """Return the trace of a text, cut to the length limit of the model if ``truncate`` is set.

    Raise CommandError or UserError, also if the model does not know the words of the text.
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


def head_of(layer: int | None, head: str | None) -> tuple[int | None, int | None]:
    """Return the layer and head of the options --layer and --head, or (None, None) if neither is given.

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
    """Return the text of an argument; "-" reads standard input.

    Raise CommandError if the bytes are not UTF-8: a shell passes such bytes as lone surrogates.
    """
    if given is None:
        return None
    source, raw = ("The piped text", sys.stdin.buffer.read()) if given == "-" else ("The text", os.fsencode(given))
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise CommandError(
            f"{source} is not UTF-8: byte {error.start + 1:,} is 0x{raw[error.start]:02X}."
            " Convert it first, for example with: iconv -f latin1 -t utf-8"
        ) from error
    return text.strip() if given == "-" else text


def refuse_unwritable(file: Path) -> None:
    """Raise CommandError if a file cannot be written."""
    folder = file.absolute().parent
    if file.is_dir() or not folder.is_dir() or not os.access(file if file.exists() else folder, os.W_OK):
        raise CommandError(f"{file} cannot be written. Give a file in a folder that exists and may be written to.")
