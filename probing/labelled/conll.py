"""Words and tags from CoNLL columns, tables and JSON Lines; every tagging scheme is converted to BIO."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, pairwise

from i18n import gettext_lazy
from inference.errors import UserError
from probing.delimited import DELIMITERS, is_json, lines, quotes_header, records, refuse_same_names, tab_rows
from probing.labelled.files import check_length, check_rows, kinds
from probing.labelled.labeled_texts import (
    OUTSIDE,
    ParsedRows,
    TaggedText,
    join_words,
    locate_words,
    make_place_pool,
    uses_spaces,
)

TAG = re.compile(r"O|[BIESLUM]-\S.*")
BEGINS, ENDS = "BSU", "ESLU"


def is_tag(written: str) -> bool:
    """Return True if a field is a valid BIO tag (or a tag of a similar scheme), such as B-PER or O.

    >>> is_tag("B-PER"), is_tag("O"), is_tag("NOUN")
    (True, True, False)
    """
    return TAG.fullmatch(written) is not None


def check_tag(written: str, line: int) -> str:
    """Return ``written`` if it is a valid tag; raise UserError with the line if it is not."""
    if not is_tag(written):
        raise UserError(
            gettext_lazy(
                "Line {line} has the tag “{written}”; expected O, or a type after B-, I-, E-, S-, L-, "
                "U- or M-. Name the tag column.",
                line=line,
                written=written[:40],
            )
        )
    return written


def to_bio(tags: Sequence[str]) -> list[str]:
    """Convert the tags of a sentence to BIO.

    >>> to_bio(["S-PER", "B-LOC", "I-LOC", "E-LOC", "O"])
    ['B-PER', 'B-LOC', 'I-LOC', 'I-LOC', 'O']
    >>> to_bio(["I-PER", "I-PER", "B-PER", "I-LOC"])
    ['B-PER', 'I-PER', 'B-PER', 'B-LOC']
    """
    turned, before = [], ""  # the kind of the open span
    for tag in tags:
        prefix, kind = tag[0], tag[2:]
        if tag == OUTSIDE:
            turned.append(tag)
        else:
            turned.append(("B-" if prefix in BEGINS or kind != before else "I-") + kind)
        before = "" if tag == OUTSIDE or prefix in ENDS else kind
    return turned


def bio_tags(kinds: Iterable[str]) -> tuple[str, ...]:
    """Return the BIO tags that a model needs for these span types: O, then B- and I- of each type.

    >>> bio_tags(["PER", "LOC"])
    ('O', 'B-LOC', 'I-LOC', 'B-PER', 'I-PER')
    """
    return (OUTSIDE, *(f"{prefix}-{kind}" for kind in sorted(set(kinds)) for prefix in "BI"))


SAMPLE = 500  # sentences that are sampled to find the columns and the script
MOST_WORDS = 2_000  # maximal words of a sentence
MOST_KINDS = 100
COMMENT = re.compile(r"#+ ?\w[\w. -]* ?=")
TEXT = re.compile(r"# ?text ?= ?(.*)")
DATE = re.compile(r"\[[^\]]*\]")
SENTENCE = re.compile(r"sentence|#$", re.IGNORECASE)
WORDS = ("word", "token")  # column names
TAGS = ("tag", "tags", "ner_tags", "ner_tag", "ner", "label", "labels")
BLANKS = " \t\n"
DOCUMENT = "-DOCSTART-"

Line = tuple[int, list[str]]  # (line number, fields)


@dataclass(frozen=True)
class WordColumns:
    """The number of the column of words and of the column of tags, from 1; None detects a column.

    ``apart`` is True if the sentence has spaces between its words, False if it has none, and None to detect it.
    """

    word: int | None = None
    tag: int | None = None
    apart: bool | None = None


@dataclass
class SentenceLines:
    """The lines of a sentence, a line per word, and its full text if a comment in the file states it."""

    words: list[Line] = field(default_factory=list)
    text: str | None = None

    def add(self, number: int, fields: list[str]) -> None:
        """Append the line of a word; raise UserError if the sentence becomes too long."""
        self.words.append((number, fields))
        if len(self.words) > MOST_WORDS:
            raise UserError(
                gettext_lazy(
                    "The sentence of line {line} has over {most:,} words. Separate sentences by empty lines.",
                    line=self.words[0][0],
                    most=MOST_WORDS,
                )
            )


def parse(text: str, wanted: WordColumns) -> ParsedRows[TaggedText, WordColumns]:
    """Parse the sentences of a file; raise UserError with a one-sentence message.

    >>> parse("Ann B-PER\\nsings O\\n", WordColumns()).rows
    [TaggedText(text='Ann sings', words=((0, 3), (4, 9)), tags=('B-PER', 'O'))]
    """
    sample = list(islice(_blocks(text), SAMPLE))
    if not sample:
        raise UserError(
            gettext_lazy("The file has no words. Each line needs a word and a tag, separated by a tab or space.")
        )
    first_line = next(line for line in lines(text) if line.strip())
    delimiter = _table_delimiter(first_line)
    if delimiter is not None:
        named = _header_columns(first_line, delimiter)
        header = _names(first_line, delimiter)
        refuse_same_names(header, (header[at - 1] for at in named))
        wanted = replace(wanted, word=wanted.word or named[0], tag=wanted.tag or named[1])
    columns, width = _find_columns(sample, wanted), len(sample[0].words[0][1])
    assert columns.word is not None
    assert columns.tag is not None
    rows: list[TaggedText] = []
    first: dict[str, int] = {}
    maker = _Maker(bool(columns.apart))
    for block in _blocks(text):
        number = block.words[0][0]
        check_rows(len(rows), number)
        words, tags = _read(block.words, width, columns.word - 1, columns.tag - 1)
        rows.append(maker.sentence(words, tags, block.text))
        check_length(rows[-1].text, number)
        if not kinds(rows[-1]) <= first.keys():
            for (line, _), tag in zip(block.words, rows[-1].tags, strict=True):
                if tag != OUTSIDE:
                    first.setdefault(tag[2:], line)
        if len(first) > MOST_KINDS:
            raise UserError(
                gettext_lazy(
                    "The file has over {most} span types by line {number}. Name the tag column.",
                    most=MOST_KINDS,
                    number=number,
                )
            )
    names = tuple(map(str, range(1, width + 1)))
    told = gettext_lazy("Words are in column {word}, tags in {tag}.", word=columns.word, tag=columns.tag)
    return ParsedRows(rows, first, columns, names, (told, *maker.notes()))


def _blocks(text: str) -> Iterator[SentenceLines]:
    """Return the sentences of CoNLL columns, of a table with a header, or of JSON Lines."""
    first = next((line for line in lines(text) if line.strip()), "")
    if first.startswith("{") and is_json(first):
        return _json_blocks(text)
    delimiter = _table_delimiter(first)
    return _column_blocks(text) if delimiter is None else _table_blocks(text, delimiter)


def _column_blocks(text: str) -> Iterator[SentenceLines]:
    """Yield the sentences of CoNLL columns, which are separated by empty lines."""
    tabs = any("\t" in line.strip() for line in islice(lines(text), SAMPLE))
    block = SentenceLines()
    for number, raw in enumerate(lines(text), start=1):
        line = raw.strip(BLANKS)
        if not line or line.startswith(DOCUMENT):
            if block.words:
                yield block
                block = SentenceLines()
        elif line.startswith("#") and _is_comment(line, tabs and bool(block.words), tabs):
            given = TEXT.fullmatch(line)
            block.text = given[1] if given else block.text
        else:
            block.add(number, raw.rstrip("\n").split("\t") if tabs else re.split(r"[ \t]+", line))
    if block.words:
        yield block


def _is_comment(line: str, inside: bool, tabs: bool) -> bool:
    """Return True if a line that begins with # is a comment.

    GermEval has such lines before a sentence, with a source and a date.

    >>> _is_comment("#\\thttps://a.org\\t[2009-10-17]", False, True), _is_comment("#\\tO", False, True)
    (True, False)
    """
    if not tabs:
        return COMMENT.match(line) is not None
    fields = line.split("\t")
    dated = "://" in line or DATE.fullmatch(fields[-1].strip()) is not None
    return len(fields) == 1 or (not inside and fields[0] == "#" and dated and not any(map(is_tag, fields[1:])))


def _table_delimiter(first: str) -> str | None:
    """Return the delimiter of a table with a header for words and tags; None for CoNLL columns."""
    return next((mark for mark in DELIMITERS if all(_header_columns(first, mark))), None)


def _names(first: str, delimiter: str) -> list[str]:
    return [name.strip().strip('"').lower() for name in first.split(delimiter)]


def _header_columns(first: str, delimiter: str) -> tuple[int, int]:
    """Return the numbers, from 1, of the columns of words and tags; 0 for a missing column."""
    names = _names(first, delimiter)
    word, tag = (next((names.index(name) + 1 for name in known if name in names), 0) for known in (WORDS, TAGS))
    return word, tag


def _table_blocks(text: str, delimiter: str) -> Iterator[SentenceLines]:
    """Yield the sentences of a table.

    A sentence begins at a new sentence name, at word number 1, or after an empty row.
    """
    rows = _table_rows(text, delimiter)
    _, header = next((at, row) for at, row in rows if any(field.strip() for field in row))
    column = next((at for at, name in enumerate(header) if SENTENCE.match(name.strip())), None)
    counts = column is not None and _counts_words(text, delimiter, column)
    block, before = SentenceLines(), ""
    for number, fields in rows:
        name = fields[column].strip() if column is not None and column < len(fields) else ""
        begins = name == "1" if counts else name not in ("", before)
        if block.words and (begins or not any(field.strip() for field in fields)):
            yield block
            block = SentenceLines()
        before = name or before
        if any(field.strip() for field in fields):
            block.add(number, fields)
    if block.words:
        yield block


def _table_rows(text: str, delimiter: str) -> Iterator[Line]:
    """Return the rows of a table, blank rows included.

    Quotation marks in a tab-separated file are words unless the header is quoted.
    """
    if delimiter != "\t" or quotes_header(text):
        return records(lines(text), delimiter)
    return tab_rows(text)


def _counts_words(text: str, delimiter: str, column: int) -> bool:
    """Return True if a column numbers the words of each sentence from 1, and not the sentences."""
    rows = (row for row in _table_rows(text, delimiter) if any(field.strip() for field in row[1]))
    names = [fields[column].strip() for _, fields in islice(rows, 1, SAMPLE) if column < len(fields)]
    after = all(name in ("1", str(int(old) + 1)) if old.isdecimal() else False for old, name in pairwise(names))
    return len(names) > 1 and names[0] == "1" and "2" in names and after


def _json_blocks(text: str) -> Iterator[SentenceLines]:
    """Yield the sentences of JSON Lines: each line is an object with a list of words and a list of tags."""
    for number, line in enumerate(lines(text), start=1):
        if not line.strip():
            continue
        row = json.loads(line) if is_json(line) else None
        found = row if isinstance(row, dict) else {}
        words, tags = (
            next((found[name] for name in known if isinstance(found.get(name), list)), None)
            for known in ((*WORDS, "tokens", "words"), TAGS)
        )
        if words is None or tags is None:
            example = '{"tokens": ["Ann", "sings"], "tags": ["B-PER", "O"]}'
            raise UserError(
                gettext_lazy("Line {line} needs two lists, such as {example}.", line=number, example=example)
            )
        if len(words) != len(tags):
            raise UserError(
                gettext_lazy(
                    "Line {line}: {words} words but {tags} tags.",
                    line=number,
                    words=len(words),
                    tags=len(tags),
                )
            )
        if any(type(tag) is int for tag in tags):
            raise UserError(
                gettext_lazy("Line {line} has numbers as tags. Replace them by names, such as B-PER.", line=number)
            )
        block = SentenceLines()
        for word, tag in zip(words, tags, strict=True):
            block.add(number, [str(word), str(tag)])
        if block.words:
            yield block


def _find_columns(sample: Sequence[SentenceLines], wanted: WordColumns) -> WordColumns:
    """Return the columns as requested, or detected from a sample; raise UserError."""
    number, fields = sample[0].words[0]
    width = len(fields)
    if width < 2:
        raise UserError(
            gettext_lazy(
                "Line {number} has one column; expected a word and a tag.",
                number=number,
            )
        )
    for asked in (wanted.word, wanted.tag):
        if asked is not None and not 1 <= asked <= width:
            raise UserError(
                gettext_lazy(
                    "There is no column {asked}; the file has {width}. Name another.", asked=asked, width=width
                )
            )
    even = [fields for block in sample for _, fields in block.words if len(fields) == width]
    free = [at for at in range(width, 0, -1) if at != wanted.word]
    tag = wanted.tag or _tag_column(even, free)
    others = [at for at in range(1, width + 1) if at != tag]
    counted = all(block.words[0][1][0] == "1" for block in sample) and len(others) > 1
    word = wanted.word or others[1 if counted and others[0] == 1 else 0]
    if word == tag:
        raise UserError(gettext_lazy("Column {tag} cannot hold both words and tags. Name two columns.", tag=tag))
    spaces = uses_spaces(fields[word - 1] for fields in even) if wanted.apart is None else wanted.apart
    return WordColumns(word, tag, spaces)


def _tag_column(even: Sequence[Sequence[str]], free: Sequence[int]) -> int:
    """Return the number, from 1, of the last column with the most tags, except columns of nested spans.

    A column with only O, or with kinds that are more frequent in an earlier column, contains nested spans, as in
    GermEval. The chunks of CoNLL-2003 have other kinds than its names, so its last column is returned.
    """
    tags = {at: sum(is_tag(fields[at - 1]) for fields in even) for at in free}
    kept, *others = sorted((at for at in free if tags[at] == max(tags.values())), reverse=True)
    for at in others:
        ours, theirs = ([f[c - 1] for f in even if f[c - 1] != OUTSIDE and is_tag(f[c - 1])] for c in (kept, at))
        if len(theirs) > len(ours) and (not ours or {tag[2:] for tag in ours} & {tag[2:] for tag in theirs}):
            kept = at
    return kept


def _read(block: Sequence[Line], width: int, word: int, tag: int) -> tuple[list[str], list[str]]:
    """Return the words and tags of a sentence; raise UserError with the line of an error."""
    words, tags = [], []
    for number, fields in block:
        if len(fields) != width:
            raise UserError(
                gettext_lazy(
                    "Line {number} has {fields} columns; the first has {width}.",
                    number=number,
                    fields=len(fields),
                    width=width,
                )
            )
        if not fields[word].strip(BLANKS):
            raise UserError(gettext_lazy("Line {number} has no word in column {word}.", number=number, word=word + 1))
        words.append(fields[word].strip(BLANKS))
        tags.append(check_tag(fields[tag].strip(), number))
    return words, tags


class _Maker:
    """A factory of sentences that counts the conversions for ``notes``."""

    def __init__(self, apart: bool) -> None:
        self.apart = apart
        self.place = make_place_pool()
        self.given = self.spans = self.begun = 0  # texts from comments, spans, and spans that began with I-
        self.bioes = False

    def sentence(self, words: list[str], tags: list[str], text: str | None) -> TaggedText:
        """Return a sentence with the text of the file's comment if it fits, else with joined words."""
        places = locate_words(words, text) if text else None
        self.given += places is not None
        if text is None or places is None:
            text, places = join_words(words, self.apart)
        turned = tuple(sys.intern(tag) for tag in to_bio(tags))
        self.bioes |= any(tag[0] in "ESLUM" for tag in tags)
        self.spans += sum(tag[0] == "B" for tag in turned)
        self.begun += sum(new[0] == "B" and old[0] == "I" for new, old in zip(turned, tags, strict=True))
        return TaggedText(text, tuple(map(self.place, places)), turned)

    def notes(self) -> tuple[str, ...]:
        """Return a message about each kind of conversion."""
        told = []
        if self.given:
            told.append(gettext_lazy("{given:,} sentences are read from the file's comments.", given=self.given))
        elif not self.apart:
            told.append(gettext_lazy("Words are joined: their script has no spaces."))
        if self.bioes:
            told.append(gettext_lazy("The tags were turned from BIOES into BIO."))
        elif self.begun:
            told.append(
                gettext_lazy(
                    "{begun:,} of {spans:,} spans began with I-, which became B-.",
                    begun=self.begun,
                    spans=self.spans,
                )
            )
        return tuple(told)
