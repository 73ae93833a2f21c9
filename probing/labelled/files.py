"""Files of labelled texts, and the division into train, dev and test."""

from __future__ import annotations

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from i18n import gettext_lazy
from inference.errors import UserError
from probing.labelled.labeled_texts import OUTSIDE, LabeledText, Row, TaggedText
from probing.text_files import decoded_or_guessed, explain_unreadable, refuse_folder

MOST_BYTES = 50_000_000  # maximal bytes of a file
MOST_ROWS = 250_000  # maximal rows of a file
LONGEST = 100_000  # maximal characters of a text
_CONTROL = r"\x01-\x08\x0b-\x1f\x7f-\x9f"  # control characters except tab and line end; models do not read them
_LETTER = rf"[^ \t\n,;|\"{_CONTROL}]"  # neither a control character nor a separator of words and tags
CONTROLS = re.compile(f"[{_CONTROL}]")
# Control characters next to a letter, not those that are a whole word.
IN_WORDS = re.compile(rf"(?<={_LETTER})[{_CONTROL}]+|[{_CONTROL}]+(?={_LETTER})")


@dataclass(frozen=True)
class File:
    """A file's content, and its name for messages."""

    name: str
    content: bytes
    encoding: str = ""  # the requested encoding; "" to detect it

    @classmethod
    def from_path(cls, path: Path, encoding: str = "") -> File:
        """Load a file; raise UserError if it cannot be opened or is too large.

        The size is checked before the content is read.
        """
        refuse_folder(path)
        with explain_unreadable(path):
            if path.stat().st_size > MOST_BYTES:
                raise _too_large(path.name, path.stat().st_size)
            return cls(path.name, path.read_bytes(), encoding)

    def text(self) -> tuple[str, int]:
        """Return the text with line ends "\\n", and the number of removed control characters; may raise UserError.

        >>> File("a.tsv", b"one\\r\\ntw\\x07o").text()
        ('one\\ntwo', 1)
        """
        return self.read()[:2]

    def read(self, *, words: bool = False) -> tuple[str, int, str]:
        """Return the text, the number of removed control characters, and the guessed encoding.

        The encoding is "" if none was guessed. With ``words``, a control character that is a whole word is kept, so
        that the number of columns stays the same. May raise UserError.
        """
        if len(self.content) > MOST_BYTES:
            raise _too_large(self.name, len(self.content))
        text, guessed = decoded_or_guessed(self.content, self.encoding)
        return (*(IN_WORDS if words else CONTROLS).subn("", text), guessed)


def _too_large(name: str, size: int) -> UserError:
    return UserError(
        gettext_lazy(
            "{name} has {size:,} bytes; the limit is {most:,}. Shorten it.",
            name=name,
            size=size,
            most=MOST_BYTES,
        )
    )


@contextmanager
def name_file_in_errors(file: File) -> Iterator[None]:
    """Inside the block, prefix the messages of UserErrors with the name of the file.

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
        said = gettext_lazy("{name}: {text}", name=file.name, text=refusal.message)
        raise UserError(said, way_out=refusal.way_out, details=refusal.details) from refusal


def check_length(text: str, line: int) -> str:
    """Return ``text`` unchanged; raise UserError that names the line if the text is too long."""
    if len(text) > LONGEST:
        raise UserError(
            gettext_lazy(
                "The {what} has {characters:,} characters; the limit is {longest:,}. Shorten it.",
                what=gettext_lazy("text of line {line}", line=line),
                characters=len(text),
                longest=LONGEST,
            )
        )
    return text


def check_rows(rows: int, line: int) -> None:
    """Raise UserError if a file has more rows than allowed; ``line`` is the line of the last row."""
    if rows >= MOST_ROWS:
        raise UserError(
            gettext_lazy(
                "The file has over {most:,} rows, from line {line} on. Shorten it.",
                most=MOST_ROWS,
                line=line,
            )
        )


SHARES = {"test": 0.1, "dev": 0.1}
MOST = {"test": 2_000, "dev": 1_000}  # maximal numbers of texts, since more would take longer without better estimates


def split(rows: Sequence[Row], seed: int = 0, parts: Sequence[str] = ("dev", "test")) -> dict[str, list[Row]]:
    """Divide rows into "train" and each of ``parts``, with similar class frequencies, in the order of the file.

    Rows with the same text are in the same split. Every class or span type of dev and test also occurs in train.

    >>> rows = [LabeledText(f"{at} is {'odd' if at % 2 else 'even'}", str(at % 2)) for at in range(40)]
    >>> {part: len(some) for part, some in split(rows).items()}
    {'train': 32, 'dev': 4, 'test': 4}
    """
    part_of = _draw_parts(_strata(rows), seed, [part for part in SHARES if part in parts])
    learned = {kind for row in rows if row.text not in part_of for kind in kinds(row)}
    for text in {row.text for row in rows if not kinds(row) <= learned}:
        part_of.pop(text, None)
    divided: dict[str, list[Row]] = {"train": [], **{part: [] for part in parts}}
    for row in rows:
        divided[part_of.get(row.text, "train")].append(row)
    return divided


def kinds(row: LabeledText | TaggedText) -> frozenset[str]:
    """Return the class of a text, or the types of the spans of a tagged text."""
    if isinstance(row, LabeledText):
        return frozenset([row.label])
    return frozenset(tag[2:] for tag in row.tags if tag != OUTSIDE)


def _strata(rows: Sequence[LabeledText] | Sequence[TaggedText]) -> dict[str, list[str]]:
    """Return the texts by class, or by the rarest kind of their spans.

    A text of several rows belongs to the alphabetically first of their classes or kinds.
    """
    counts = Counter(kind for row in rows for kind in kinds(row))
    of_text: dict[str, str] = {}
    for row in rows:
        rarest = min(kinds(row), key=lambda kind: (counts[kind], kind), default="")
        of_text[row.text] = min(of_text.get(row.text, rarest), rarest)
    strata: dict[str, list[str]] = defaultdict(list)
    for text, stratum in of_text.items():
        strata[stratum].append(text)
    return strata


def _draw_parts(strata: dict[str, list[str]], seed: int, parts: Sequence[str]) -> dict[str, str]:
    """Return the split of each text that is not for training; each stratum keeps a training text."""
    total = sum(map(len, strata.values()))
    part_of: dict[str, str] = {}
    for texts in strata.values():
        waiting = sorted(texts, key=lambda text: _number(text, seed))
        for part in parts:
            share = min(SHARES[part], MOST[part] / total)
            wanted = min(max(round(share * len(texts)), 1), len(waiting) - 1)
            part_of.update(dict.fromkeys(waiting[:wanted], part))
            waiting = waiting[wanted:]
    return part_of


def _number(text: str, seed: int) -> bytes:
    return hashlib.blake2b(f"{seed}\n{text}".encode(), digest_size=8).digest()
