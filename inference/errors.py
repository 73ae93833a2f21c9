"""Errors shown to users: a clear sentence and a remedy."""

from __future__ import annotations

import argparse
import logging
import os
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NoReturn

from i18n import gettext_lazy

log = logging.getLogger(__name__)

PANIC = "PanicException"
NO_MEMORY = re.compile("can't allocate memory|not enough memory|out of memory")  # torch's messages by device
OUT_OF_MEMORY = gettext_lazy("Out of memory. Pick a smaller model or shorter text.")


class UserError(ValueError):
    """Raised if a request cannot be served; the message is a sentence for the person who made it.

    ``way_out`` names the remedy, for a button:

    - "cut": read only the first tokens
    - "download": fetch the model first
    - "revision": use the revision in ``details``
    - "embedded": use the embedded model
    - "retry": try again later
    - "busy": try the same request again soon
    - "text": change the text
    - "pair": omit the second text
    - "reads": use the ``model`` in ``details``, whose vocabulary covers the text, or another text
    - "head": use one of the ``models`` in ``details``, which have the required head

    Without a remedy, ``way_out`` is None. ``details`` has the values in the message, such as ``tokens`` and ``limit``.

    >>> UserError("The text is empty. Type a sentence.", way_out="text").way_out
    'text'
    """

    def __init__(self, message: str, *, way_out: str | None = None, details: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.way_out = way_out
        self.details: dict[str, Any] = dict(details or {})

    def copy(self) -> UserError:
        """Return a copy, so that threads can raise the same error without sharing a traceback."""
        return UserError(self.message, way_out=self.way_out, details=self.details)


def too_many_tokens(tokens: int, most: int, way_out: str = "cut") -> UserError:
    """Return the error for a text of ``tokens`` tokens if a request takes at most ``most``.

    >>> too_many_tokens(300, 256).details
    {'tokens': 300, 'limit': 256}
    """
    return UserError(
        gettext_lazy(
            "The text has {tokens} tokens; the limit here is {most}. Shorten it.",
            tokens=tokens,
            most=most,
        ),
        way_out=way_out,
        details={"tokens": tokens, "limit": most},
    )


def format_os_error(error: OSError) -> str:
    """Return the line that a command prints for an error of the operating system.

    >>> format_os_error(PermissionError(13, "Permission denied", "scores.json"))
    'scores.json cannot be used: Permission denied. Check the path and its permissions.'
    """
    if isinstance(error, BrokenPipeError):
        return "The program that reads this output has ended. Write to a file instead."
    name = "A file" if error.filename is None else str(error.filename)
    return f"{name} cannot be used: {error.strerror or type(error).__name__}. Check the path and its permissions."


def report(error: OSError) -> int:
    """Print the message for an operating-system error to stderr; return 2, the command's exit status."""
    print(format_os_error(error), file=sys.stderr)
    if isinstance(error, BrokenPipeError):  # Python would flush the rest at exit and fail again
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 2


def hide_details() -> None:
    """Keep the exceptions that caused a UserError out of standard error, unless logging is configured."""
    logging.getLogger("inference").addHandler(logging.NullHandler())


class Parser(argparse.ArgumentParser):
    """An argument parser that prints errors in a single line, without the usage."""

    def error(self, message: str) -> NoReturn:
        """Exit with status 2 and the message in one line."""
        self.exit(2, f"{message[:1].upper()}{message[1:]}. See {self.prog} -h.\n")


@contextmanager
def as_user_error(sentence: str, *, way_out: str | None = "embedded") -> Iterator[None]:
    """Inside the block, convert exceptions from loading foreign files to a UserError with ``sentence``.

    The list of exceptions was found by tests with hostile and broken files: transformers, safetensors and tokenizers
    raise all of these. The original messages contain paths of this machine, so they are only logged.
    """
    from pickle import UnpicklingError

    from huggingface_hub.errors import StrictDataclassError
    from safetensors import SafetensorError

    try:
        yield
    except UserError:
        raise
    except (
        MemoryError,
        OSError,
        ValueError,
        RuntimeError,
        LookupError,
        TypeError,
        AttributeError,
        ImportError,
        AssertionError,
        ArithmeticError,
        SafetensorError,
        StrictDataclassError,  # raised for a wrong type in a config.json; it derives directly from Exception
        UnpicklingError,
    ) as error:
        log.warning("%s", sentence, exc_info=error)
        raise UserError(OUT_OF_MEMORY if _memory_ran_out(error) else sentence, way_out=way_out) from error
    except BaseException as error:
        # The tokenizers library raises a plain Exception if it cannot read a tokenizer.json. If its Rust code panics,
        # it raises a class that no module exports and that does not derive from Exception.
        if type(error) is not Exception and type(error).__name__ != PANIC:
            raise
        log.warning("%s", sentence, exc_info=error)
        raise UserError(sentence, way_out=way_out) from error


def _memory_ran_out(error: BaseException | None) -> bool:
    """Return True if an error, or an error that caused it, reports a lack of memory."""
    while error is not None:
        if isinstance(error, MemoryError) or NO_MEMORY.search(str(error)):
            return True
        error = error.__cause__
    return False
