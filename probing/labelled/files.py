"""A file that somebody brings, as text: what it may weigh, and refusals that name it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from i18n import gettext_lazy
from inference.errors import UserError
from probing.utf8 import decoded_or_guessed, refuse_folder

MOST_BYTES = 50_000_000  # of a file
MOST_ROWS = 250_000  # in it
LONGEST = 100_000  # characters of a text
_CONTROL = r"\x01-\x08\x0b-\x1f\x7f-\x9f"  # all but tab and line end; no model reads them
_LETTER = rf"[^ \t\n,;|\"{_CONTROL}]"  # no control, and nothing that separates words from tags
CONTROLS = re.compile(f"[{_CONTROL}]")
IN_WORDS = re.compile(rf"(?<={_LETTER})[{_CONTROL}]+|[{_CONTROL}]+(?={_LETTER})")  # not those that are a word


@dataclass(frozen=True)
class File:
    """A file as it came, and what it is called where something is said of it."""

    name: str
    content: bytes
    encoding: str = ""  # that somebody named; "" if it is to be found

    @classmethod
    def from_path(cls, path: Path, encoding: str = "") -> File:
        """The file at a path; raises Refusal where it cannot be opened, before it is read where it is too large."""
        refuse_folder(path)
        try:
            if path.stat().st_size > MOST_BYTES:
                raise _too_large(path.name, path.stat().st_size)
            return cls(path.name, path.read_bytes(), encoding)
        except OSError as error:
            reason = (
                gettext_lazy("there is no such file")
                if isinstance(error, FileNotFoundError)
                else gettext_lazy("it cannot be opened")
            )
            raise UserError(
                gettext_lazy(
                    "{path} cannot be read: {reason}. Give the path of a file of labelled texts.",
                    path=path,
                    reason=reason,
                )
            ) from error

    def text(self) -> tuple[str, int]:
        """What it says, line ends made "\\n", and how many control characters were left out; raises Refusal.

        >>> File("a.tsv", b"one\\r\\ntw\\x07o").text()
        ('one\\ntwo', 1)
        """
        return self.read()[:2]

    def read(self, *, words: bool = False) -> tuple[str, int, str]:
        """Return the same and the encoding that was guessed, "" if none was; raise Refusal.

        With ``words``, control characters that are a whole word stay, so that each column keeps its place.
        """
        if len(self.content) > MOST_BYTES:
            raise _too_large(self.name, len(self.content))
        text, guessed = decoded_or_guessed(self.content, self.encoding)
        return (*(IN_WORDS if words else CONTROLS).subn("", text), guessed)


def _too_large(name: str, size: int) -> UserError:
    return UserError(
        gettext_lazy(
            "{name} has {size:,} bytes; at most {most:,} are read. Bring a part of it.",
            name=name,
            size=size,
            most=MOST_BYTES,
        )
    )


@contextmanager
def name_file_in_errors(file: File) -> Iterator[None]:
    """Refusals of what is in a file begin with its name.

    >>> with name_file_in_errors(File("dev.csv", b"")):
    ...     raise UserError("Line 3 has no label.")
    Traceback (most recent call last):
    inference.errors.UserError: dev.csv: Line 3 has no label.
    """
    try:
        yield
    except UserError as refusal:
        if refusal.message.startswith(file.name):
            raise
        said = gettext_lazy("{file}: {said}", file=file.name, said=refusal.message)
        raise UserError(said, way_out=refusal.way_out, details=refusal.details) from refusal


def check_length(text: str, line: int) -> str:
    """The text itself; raises Refusal with its line where it is too long."""
    if len(text) > LONGEST:
        raise UserError(
            gettext_lazy(
                "The text of line {line} has {characters:,} characters; at most {longest:,} are read. Shorten it.",
                line=line,
                characters=len(text),
                longest=LONGEST,
            )
        )
    return text


def check_rows(rows: int, line: int) -> None:
    """Raises Refusal where a file already has as many rows as are read, and one more at this line."""
    if rows >= MOST_ROWS:
        raise UserError(
            gettext_lazy(
                "The file has more than {most:,} rows, from line {line} on. Bring a part of it.",
                most=MOST_ROWS,
                line=line,
            )
        )
