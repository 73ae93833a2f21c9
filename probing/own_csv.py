"""One's own CSV: in each text, a source word, the target it should look at, and a distractor.

The columns are text, source, target and distractor; a column relation is read where there is one. Words may be phrases.
One that stands several times in its text says which is meant: "the#2" is the second "the".
"""

from __future__ import annotations

import re

from attention.annotations import AnnotatedText, Link, Span
from i18n import gettext_lazy
from inference.errors import UserError
from probing.corpus import ParsedCorpus
from probing.delimited import rows

DIRECTIONS = (gettext_lazy("source to target"), gettext_lazy("target to source"))
EMPTY = gettext_lazy("it has no row below its header")
RELATION = "link"
COLUMNS = ("text", "source", "target", "distractor")


def parse(text: str) -> ParsedCorpus:
    """Every row as an item; raises Refusal with the line that does not fit."""
    return ParsedCorpus(tuple(_item(row, line) for line, row in rows(text, COLUMNS)))


def _item(row: dict[str, str], line: int) -> AnnotatedText:
    text = row["text"].replace("\r\n", "\n").replace("\r", "\n")
    units = tuple(_find(text, row[name].strip(), name, line) for name in ("source", "target", "distractor"))
    if len(set(units)) < len(units):
        raise UserError(
            gettext_lazy(
                "Line {line} names the same word twice; source, target and distractor must be three words.", line=line
            )
        )
    return AnnotatedText(text, units, (Link(row.get("relation", "").strip() or RELATION, 0, 1, (2,)),), line)


def _find(text: str, phrase: str, column: str, line: int) -> Span:
    """Where a phrase stands in a text, as a whole word where it does; "it#2" is the second "it"."""
    if not phrase:
        raise UserError(gettext_lazy("Line {line} has no {column}.", line=line, column=column))
    found = _places(text, phrase)
    if not found:
        numbered = re.fullmatch(r"(.+)#([1-9][0-9]{0,5})", phrase, re.DOTALL)
        found = _places(text, numbered[1])[int(numbered[2]) - 1 :][:1] if numbered else []
    elif len(found) > 1:
        raise UserError(
            gettext_lazy(
                'Line {line}: the {column} "{phrase}" stands {found} times in its text. Say which is meant, as'
                ' in "{phrase}#2".',
                line=line,
                column=column,
                phrase=phrase[:40],
                found=len(found),
            )
        )
    if not found:
        raise UserError(
            gettext_lazy(
                'Line {line}: the {column} "{phrase}" does not stand in its text.',
                line=line,
                column=column,
                phrase=phrase[:40],
            )
        )
    return found[0]


def _places(text: str, phrase: str) -> list[Span]:
    """Every place of a phrase: as a whole word, or anywhere where words are not separated."""
    whole = [match.span() for match in re.finditer(rf"(?<!\w){re.escape(phrase)}(?!\w)", text)]
    return whole or [match.span() for match in re.finditer(re.escape(phrase), text)]
