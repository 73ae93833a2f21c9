"""Annotated texts on which heads are scored, and parsers of two formats: tables with named columns, and GAP."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from attention.annotations import AnnotatedText, Link, Span
from i18n import gettext_lazy
from inference.errors import UserError
from probing.delimited import rows

ALL = gettext_lazy("all")  # name of the union of all relations except UNCOUNTED
UNCOUNTED = frozenset({"punct", "root"})
HALVES = 2


@dataclass(frozen=True, eq=False)
class AnnotatedCorpus:
    """Annotated texts, on which heads are scored.

    A link can be tested in two directions: its source attends to its target, or the reverse. ``directions`` has a name
    for each direction, such as "dependent to head", with the attending word first.
    """

    format: str  # "conllu", "gap" or "csv"
    items: tuple[AnnotatedText, ...]
    directions: tuple[str, ...]
    digest: str  # SHA-256 of the format, the requested encoding and the file's content
    left_out: int = 0  # rows without a link: in GAP, both or neither of the names belong to the pronoun
    together: bool = False  # True if the relations are also pooled as ALL
    guessed: str = ""  # the guessed encoding, or ""

    @cached_property
    def groups(self) -> tuple[int, ...]:
        """Return the number of the group of dependent texts to which each text belongs.

        Equal texts, and texts with the same candidates, are in the same group. Paired tests and bootstraps flip or
        resample a group as a whole.
        """
        return tuple(_groups(self.items))

    @cached_property
    def halves(self) -> tuple[int, ...]:
        """Return the half of each text: heads are chosen on half 0 and evaluated on half 1.

        Each group of dependent texts goes as a whole to the half that so far has fewer different texts, the first to
        half 0. If all groups have a single text, the halves alternate.
        """
        texts: dict[int, set[str]] = {}
        for group, item in zip(self.groups, self.items, strict=True):
            texts.setdefault(group, set()).add(item.text)
        sizes, half_of = [0] * HALVES, {}
        for group, members in texts.items():
            half_of[group] = sizes.index(min(sizes))
            sizes[half_of[group]] += len(members)
        return tuple(half_of[group] for group in self.groups)

    @property
    def links(self) -> int:
        """Return the number of links in all texts."""
        return sum(len(item.links) for item in self.items)


def _groups(items: Sequence[AnnotatedText]) -> list[int]:
    """Return for each text the index of the first text of its group, which shares a text or the candidates.

    The candidates are the words of which one is the answer; without given candidates, they are the whole text.
    """
    first: dict[object, int] = {}
    parents = list(range(len(items)))

    def root(number: int) -> int:
        while parents[number] != number:
            number = parents[number]
        return number

    for number, item in enumerate(items):
        for key in _keys(item):
            one, other = sorted((root(first.setdefault(key, number)), root(number)))
            parents[other] = one
    return [root(number) for number in range(len(items))]


def _keys(item: AnnotatedText) -> list[object]:
    """Return the text, and the candidates of each link that names them."""
    words = [item.text[start:stop].lower() for start, stop in item.units]
    given = (frozenset(words[unit] for unit in (link.target, *link.others)) for link in item.links if link.others)
    return [item.text, *given]


@dataclass(frozen=True)
class ParsedCorpus:
    """The annotated texts of a file, and the number of rows without a link, which are left out."""

    items: tuple[AnnotatedText, ...]
    left_out: int = 0


@dataclass(frozen=True)
class CorpusFormat:
    """A file format: its parser, the names of a link's directions, and a message for files without links."""

    parse: Callable[[str], ParsedCorpus]
    directions: tuple[str, ...]
    empty: str


TABLE_RELATION = "link"
TABLE_COLUMNS = ("text", "source", "target", "distractor")


def parse_table(text: str) -> ParsedCorpus:
    """Parse a table with a text, source, target and distractor in each row.

    Raise UserError with the line of an error.
    """
    return ParsedCorpus(tuple(_item(row, line) for line, row in rows(text, TABLE_COLUMNS)))


def _item(row: dict[str, str], line: int) -> AnnotatedText:
    text = row["text"].replace("\r\n", "\n").replace("\r", "\n")
    units = tuple(_find(text, row[name].strip(), name, line) for name in ("source", "target", "distractor"))
    if len(set(units)) < len(units):
        raise UserError(
            gettext_lazy("Line {line} repeats a word; source, target and distractor must differ.", line=line)
        )
    return AnnotatedText(text, units, (Link(row.get("relation", "").strip() or TABLE_RELATION, 0, 1, (2,)),), line)


def _find(text: str, phrase: str, column: str, line: int) -> Span:
    """Return the span of a phrase in a text, preferably as a whole word; "it#2" is the second "it".

    Raise UserError if the phrase is missing or ambiguous.
    """
    if not phrase:
        raise UserError(gettext_lazy("Line {line} has no {column}.", line=line, column=column))
    found = _places(text, phrase)
    if not found:
        numbered = re.fullmatch(r"(.+)#([1-9][0-9]{0,5})", phrase, re.DOTALL)
        found = _places(text, numbered[1])[int(numbered[2]) - 1 :][:1] if numbered else []
    elif len(found) > 1:
        raise UserError(
            gettext_lazy(
                'Line {line}: the {column} "{phrase}" occurs {found} times. Write "{phrase}#2" for the second.',
                line=line,
                column=column,
                phrase=phrase[:40],
                found=len(found),
            )
        )
    if not found:
        raise UserError(
            gettext_lazy(
                'Line {line}: the {column} "{phrase}" is not in its text.',
                line=line,
                column=column,
                phrase=phrase[:40],
            )
        )
    return found[0]


def _places(text: str, phrase: str) -> list[Span]:
    """Return the spans of a phrase as a whole word; without such a span, return all its spans."""
    whole = [match.span() for match in re.finditer(rf"(?<!\w){re.escape(phrase)}(?!\w)", text)]
    return whole or [match.span() for match in re.finditer(re.escape(phrase), text)]


GAP_RELATION = "coref"
GAP_COLUMNS = ("Text", "Pronoun", "Pronoun-offset", "A", "A-offset", "A-coref", "B", "B-offset", "B-coref")


def parse_gap(text: str) -> ParsedCorpus:
    """Parse a GAP file: sentences with a pronoun and two names, A and B, of which the pronoun means one.

    Rows in which the pronoun means neither name, or both, are left out and counted. Raise UserError with the line of an
    error.
    """
    lines = text.split("\n")
    header = lines[0].split("\t")
    lacking = [column for column in GAP_COLUMNS if column not in header]
    if lacking:
        raise UserError(
            gettext_lazy(
                'Line 1 lacks the column "{lacking}"; expected {columns}, separated by tabs.',
                lacking=lacking[0],
                columns=", ".join(GAP_COLUMNS),
            )
        )
    items, left_out = [], 0
    for number, line in enumerate(lines[1:], start=2):
        if not line.strip():
            continue
        fields = line.split("\t")
        if len(fields) != len(header):
            raise UserError(
                gettext_lazy(
                    "Line {line} has {fields} columns; line {first} has {wanted}.",
                    line=number,
                    fields=len(fields),
                    first=1,
                    wanted=len(header),
                )
            )
        row = dict(zip(header, fields, strict=True))
        right = [_flag(row, name, number) for name in ("A", "B")]
        if right[0] == right[1]:
            left_out += 1
            continue
        units = tuple(_unit(row, name, number) for name in ("Pronoun", "A", "B"))
        _refuse_overlap(units, number)
        target, other = (1, 2) if right[0] else (2, 1)
        items.append(AnnotatedText(row["Text"], units, (Link(GAP_RELATION, 0, target, (other,)),), number))
    return ParsedCorpus(tuple(items), left_out)


def _flag(row: dict[str, str], name: str, line: int) -> bool:
    value = row[f"{name}-coref"].strip().upper()
    if value not in ("TRUE", "FALSE"):
        raise UserError(
            gettext_lazy(
                'Line {line} has "{value}" under {name}-coref; expected TRUE or FALSE.',
                line=line,
                value=value[:20],
                name=name,
            )
        )
    return value == "TRUE"


def _unit(row: dict[str, str], name: str, line: int) -> Span:
    written, at = row[name], row[f"{name}-offset"].strip()
    start = int(at) if at.isascii() and at.isdigit() and len(at) < 10 else -1
    if start < 0 or not written.strip() or row["Text"][start : start + len(written)] != written:
        raise UserError(
            gettext_lazy(
                "Line {line}: “{written}” is not at character {character} of its text.",
                line=line,
                written=written[:40],
                character=at[:20],
            )
        )
    return start, start + len(written)


def _refuse_overlap(units: tuple[Span, ...], line: int) -> None:
    """Raise UserError if two of the pronoun, A and B share characters."""
    names = ("Pronoun", "A", "B")
    for one in range(3):
        for other in range(one):
            if units[one][0] < units[other][1] and units[other][0] < units[one][1]:
                raise UserError(
                    gettext_lazy(
                        "Line {line}: {first} and {second} overlap.",
                        line=line,
                        first=names[other],
                        second=names[one],
                    )
                )


TABLE = CorpusFormat(
    parse_table,
    (gettext_lazy("source to target"), gettext_lazy("target to source")),
    gettext_lazy("it has only a header"),
)
GAP = CorpusFormat(
    parse_gap, (gettext_lazy("pronoun to candidate"),), gettext_lazy("no row has exactly one of A and B TRUE")
)
