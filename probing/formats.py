"""Loading of annotated sentences in any format, a parser of CoNLL-U, and the bundled sets.

CoNLL-U (universaldependencies.org/format) states every word and its dependency head. Its words are joined by spaces,
so that the model reads the annotated words (arXiv:1906.04341).
"""

from __future__ import annotations

import hashlib
import re
from functools import cache
from pathlib import Path

from attention.annotations import AnnotatedText, Link, Span
from i18n import gettext_lazy
from inference.errors import UserError
from probing.corpus import GAP, TABLE, AnnotatedCorpus, CorpusFormat, ParsedCorpus
from probing.text_files import (
    decoded_or_guessed,
    explain_unreadable,
    first_damage,
    guessed_encoding,
    refuse_folder,
    refuse_joined,
)

COLUMNS = 10
KEPT = frozenset({"nmod:poss", "nsubj:pass", "aux:pass"})  # subtypes that count as separate relations
_OTHER = re.compile(r"\d+-\d+|\d+\.\d+")  # multiword tokens and empty nodes

Word = tuple[int, str, int, str]  # (line, form, head, relation)


def text_of(content: bytes, encoding: str = "") -> str:
    """Return the text of a CoNLL-U file; raise UserError with the line if it is not UTF-8.

    UTF-8 is the only encoding of the format, so no encoding is guessed. UTF-16 with a byte order mark is also accepted.
    If ``encoding`` is given, the file is decoded with it.
    """
    if encoding or not (guessed := guessed_encoding(content)):
        return decoded_or_guessed(content, encoding)[0]
    line = content[: first_damage(content)].count(b"\n") + 1
    raise UserError(
        gettext_lazy(
            "Line {line} is not UTF-8; it may be {encoding}. Convert the file.",
            line=line,
            encoding=guessed,
        )
    )


def parse_conllu(text: str) -> ParsedCorpus:
    """Parse the sentences of a CoNLL-U file; raise UserError with the line of an error.

    >>> lines = "1 Birds _ _ _ _ 2 nsubj _ _", "2 sing _ _ _ _ 0 root _ _"
    >>> parse_conllu("\\n".join(lines).replace(" ", "\\t")).items[0].text
    'Birds sing'
    """
    refuse_joined(text)
    items: list[AnnotatedText] = []
    words: list[Word] = []
    for number, line in enumerate([*text.split("\n"), ""], start=1):
        if line.startswith("#"):
            continue
        if line.strip(" \t"):
            words += _word(line, number, len(words) + 1)
        elif words:
            items.append(_item(words))
            words = []
    return ParsedCorpus(tuple(items))


def relation(label: str) -> str:
    """Return a dependency relation without its subtype, such as "nsubj" for "nsubj:outer".

    Relations in ``KEPT`` keep their subtype.

    >>> relation("obl:tmod"), relation("nmod:poss")
    ('obl', 'nmod:poss')
    """
    return label if label in KEPT else label.split(":")[0]


def _word(line: str, number: int, expected: int) -> list[Word]:
    """Return the word of a line in a list, which is empty for a multiword token or an empty node."""
    fields = line.split("\t")
    if len(fields) != COLUMNS:
        raise UserError(
            gettext_lazy(
                "Line {number} has {fields} columns; CoNLL-U has {columns}, separated by tabs.",
                number=number,
                fields=len(fields),
                columns=COLUMNS,
            )
        )
    name, form, head, label = fields[0], fields[1], fields[6], fields[7]
    if _OTHER.fullmatch(name):
        return []
    if name != str(expected):
        raise UserError(
            gettext_lazy(
                'Line {number} numbers its word "{name}"; expected {expected}.',
                number=number,
                name=name[:20],
                expected=expected,
            )
        )
    if not head.isascii() or not head.isdigit() or label in ("", "_") or not form.strip(" "):
        raise UserError(
            gettext_lazy(
                "Line {number} lacks a word, its head (column 7) or its relation (column 8).",
                number=number,
            )
        )
    return [(number, form, int(head[:9]), relation(label))]


def _item(words: list[Word]) -> AnnotatedText:
    units: list[Span] = []
    start = 0
    for _, form, _, _ in words:
        units.append((start, start + len(form)))
        start += len(form) + 1
    links = []
    for at, (line, _, head, label) in enumerate(words):
        if head == at + 1:
            raise UserError(
                gettext_lazy(
                    "Line {line}: word {head} is its own head. Give another, or 0.",
                    line=line,
                    head=head,
                )
            )
        if head > len(words):
            raise UserError(
                gettext_lazy(
                    "Line {line} has the head {head}; the sentence has {words} words.",
                    line=line,
                    head=head,
                    words=len(words),
                )
            )
        if head:
            links.append(Link(label, at, head - 1))
    _refuse_cycle(words)
    return AnnotatedText(" ".join(form for _, form, _, _ in words), tuple(units), tuple(links), words[0][0])


def _refuse_cycle(words: list[Word]) -> None:
    """Raise UserError with the first line that is in a dependency cycle or leads to a cycle."""
    reached = {0}
    for start, (line, *_) in enumerate(words, start=1):
        path: dict[int, None] = {}  # a dict keeps the order of insertion
        at = start
        while at not in reached:
            if at in path:
                circle = list(path)[list(path).index(at) :]
                raise UserError(
                    gettext_lazy(
                        "Line {line}: the dependencies form a cycle ({cycle}). Correct one.",
                        line=line,
                        cycle=" → ".join(map(str, [*circle[:8], at])),
                    )
                )
            path[at] = None
            at = words[at - 1][2]
        reached |= path.keys()


CONLLU = CorpusFormat(
    parse_conllu,
    (gettext_lazy("dependent to head"), gettext_lazy("head to dependent")),
    gettext_lazy("no word depends on another"),
)


FORMATS = {"conllu": CONLLU, "gap": GAP, "csv": TABLE}
NAMES = {
    "conllu": gettext_lazy("CoNLL-U: dependency relations"),
    "gap": gettext_lazy("GAP's TSV: a pronoun and two names"),
    "csv": gettext_lazy("CSV, TSV, JSON Lines or Parquet: text, source, target, distractor"),
}


def load(file: Path, format: str, encoding: str = "") -> AnnotatedCorpus:
    """Load the annotated texts of a file; raise UserError if the file is missing or not in ``format``.

    ``format`` is "conllu", "gap" or "csv". If ``encoding`` is "", it is detected.
    """
    refuse_folder(file)
    with explain_unreadable(file):
        content = file.read_bytes()
    return parse(content, format, encoding)


def parse(content: bytes, format: str, encoding: str = "") -> AnnotatedCorpus:
    """Parse the content of a file of annotated texts; raise UserError with the line of an error.

    ``format`` is "conllu", "gap" or "csv". If ``encoding`` is "", it is detected.

    >>> rows = "text,source,target,distractor\\nThe cat saw the dog as it fled.,it,cat,dog\\n"
    >>> parse(rows.encode(), "csv").items[0].units
    ((23, 25), (4, 7), (16, 19))
    """
    if format not in FORMATS:
        raise UserError(
            gettext_lazy(
                "“{name}” is not one of {known}.",
                name=format,
                known=", ".join(FORMATS),
            )
        )
    parser = FORMATS[format]
    if format == "conllu":
        text, guessed = text_of(content, encoding), ""
    else:
        text, guessed = decoded_or_guessed(content, encoding)
    parsed = parser.parse(text)
    if not any(item.links for item in parsed.items):
        raise UserError(gettext_lazy("The file has nothing to score: {empty}.", empty=parser.empty))
    return AnnotatedCorpus(
        format=format,
        items=tuple(item for item in parsed.items if item.links),
        directions=parser.directions,
        digest=hashlib.sha256(f"{format}{encoding}\n".encode() + content).hexdigest(),
        left_out=parsed.left_out,
        together=format == "conllu",
        guessed=guessed,
    )


PROBES = Path(__file__).resolve().parent.parent / "assets" / "probes"
READY = {"grammar": ("grammar.conllu", "conllu"), "pronouns": ("pronouns.csv", "csv")}


@cache
def load_ready_set(name: str) -> AnnotatedCorpus:
    """Load a bundled set, "grammar" or "pronouns".

    >>> len(load_ready_set("grammar").items)
    60
    """
    file, format = READY[name]
    return load(PROBES / file, format)
