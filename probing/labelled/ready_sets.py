"""The bundled labelled sets: their descriptions (cards), and the file format in which they are packed."""

from __future__ import annotations

import lzma
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from i18n import gettext_lazy
from inference.errors import UserError
from probing.labelled.conll import bio_tags
from probing.labelled.evaluation import spans
from probing.labelled.files import File, kinds
from probing.labelled.labeled_texts import OUTSIDE, HeadKind, LabeledDataset, LabeledText, TaggedText
from probing.labelled.loading import TaskFiles
from probing.labelled.squad import QuestionSet, read_questions

TOUCH = "\x1f"
WORD = re.compile(f"[^ {TOUCH}]+")
# Literal context bits (lc) help for text; position bits (lp, pb) are for data with aligned words.
FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "lc": 4, "lp": 0, "pb": 0}]


def line(row: LabeledText | TaggedText, label: str = "") -> str:
    """Return a labelled text as a line of a packed file.

    ``label`` is the class of a tagged text, if the texts of the set have both a class and tags. Raise ValueError if the
    format cannot represent the text.

    >>> line(TaggedText("Ann sings", ((0, 3), (4, 9)), ("B-PER", "O")))
    '\\t\\tPER\\tAnn\\t sings'
    """
    written = f"{row.label}\t{row.text}" if isinstance(row, LabeledText) else f"{label}\t{_mark_spans(row)}"
    again = parse_labeled(written) if isinstance(row, LabeledText) else parse_tagged(written)
    if "\n" in written or again != row:
        raise ValueError(f"A text cannot be packed, for its line ends, tabs or words: {row.text[:60]!r}")
    return written


def parse_labeled(written: str) -> LabeledText:
    """Parse the text and the class of a packed line."""
    label, *pieces = written.split("\t")
    return LabeledText("".join(piece for at, piece in enumerate(pieces) if at % 3 != 1).replace(TOUCH, ""), label)


def parse_tagged(written: str) -> TaggedText:
    """Parse the text and the tags of a packed line.

    >>> parse_tagged("\\t\\tPER\\tAnn Lee\\t sings")
    TaggedText(text='Ann Lee sings', words=((0, 3), (4, 7), (8, 13)), tags=('B-PER', 'I-PER', 'O'))
    """
    text, words, tags = "", [], []
    pieces = written.split("\t")[1:]
    for at, piece in enumerate(pieces):
        if at % 3 == 1:
            continue
        for number, word in enumerate(WORD.finditer(piece)):
            start = len(text) + word.start() - piece.count(TOUCH, 0, word.start())
            words.append((start, start + len(word[0])))
            tags.append(OUTSIDE if at % 3 == 0 else f"{'I' if number else 'B'}-{pieces[at - 1]}")
        text += piece.replace(TOUCH, "")
    return TaggedText(text, tuple(words), tuple(tags))


def _mark_spans(row: TaggedText) -> str:
    """Return a text with marks for spans and for words without a space in between."""
    starts = {first: kind for kind, first, _ in spans(row.tags)}
    ends = {end for _, _, end in spans(row.tags)}
    parts, at = [], 0
    for number, (start, end) in enumerate(row.words):
        gap = row.text[at:start]
        if number in ends:
            parts.append("\t")
        if gap or number in starts or number in ends or not number:
            parts.append(gap)
        else:
            parts.append(TOUCH)
        if number in starts:
            parts.append(f"\t{starts[number]}\t")
        parts.append(row.text[start:end])
        at = end
    return "".join(parts) + "\t" * (len(row.words) in ends) + row.text[at:]


def pack(parts: Sequence[Sequence[str]]) -> bytes:
    """Compress the lines of train, dev and test to the bytes of a packed file."""
    text = "\n\n".join("\n".join(part) for part in parts) + "\n"
    return lzma.compress(text.encode(), format=lzma.FORMAT_XZ, filters=FILTERS)


def unpack(content: bytes) -> list[list[str]]:
    """Return the lines of train, dev and test from a packed file.

    >>> unpack(pack([["a\\t1", "b\\t2"], ["a\\t3"], ["b\\t4"]]))
    [['a\\t1', 'b\\t2'], ['a\\t3'], ['b\\t4']]
    """
    return [part.split("\n") for part in lzma.decompress(content).decode().removesuffix("\n").split("\n\n")]


FOLDER = Path(__file__).resolve().parents[2] / "assets" / "tasks"
LICENCES = {
    "CC0-1.0": "https://creativecommons.org/publicdomain/zero/1.0/",
    "CC-BY-4.0": "https://creativecommons.org/licenses/by/4.0/",
    "CC-BY-SA-3.0": "https://creativecommons.org/licenses/by-sa/3.0/",
    "CC-BY-SA-4.0": "https://creativecommons.org/licenses/by-sa/4.0/",
}


@dataclass(frozen=True)
class DatasetCard:
    """The description of a bundled labelled set; ``attribution`` must be shown with any part of the set."""

    id: str
    title: str
    kind: HeadKind
    language: str
    sentence: str  # description of the task
    licence: str  # a key of LICENCES
    source: str  # address of the published files
    attribution: str
    citation: str
    file: str  # name in FOLDER; two cards may share a file
    rows: tuple[int, int, int]  # numbers of rows in train, dev and test
    sha256: str  # SHA-256 of the file

    @property
    def path(self) -> Path:
        """Return the path of the packed file."""
        return FOLDER / self.file

    @property
    def licence_address(self) -> str:
        """Return the web address of the licence."""
        return LICENCES[self.licence]


_SNIPS = (
    "https://github.com/sonos/nlu-benchmark",
    gettext_lazy("Snips voice requests by Snips (Sonos), public domain; packed for Headlight."),
    "Coucke et al. 2018, Snips Voice Platform, arXiv:1805.10190",
)
_SIB = (
    "https://github.com/dadelani/sib-200",
    gettext_lazy("SIB-200 by Adelani et al., sentences of FLORES-200 by the NLLB Team; changed."),
    "Adelani et al. 2024, SIB-200, arXiv:2309.07445; NLLB Team 2022, arXiv:2207.04672",
)

CARDS = (
    DatasetCard(
        "snips-intents",
        gettext_lazy("Snips: what is asked for"),
        "classify",
        gettext_lazy("English"),
        gettext_lazy("One of seven requests to a voice assistant."),
        "CC0-1.0",
        *_SNIPS,
        "snips.xz",
        (13_084, 700, 700),
        "6ef32f37c802012fb85f8f49cccfcc42d1a3132d7264220be5b3ca6953427dd1",
    ),
    DatasetCard(
        "snips-slots",
        gettext_lazy("Snips: slots"),
        "tag",
        gettext_lazy("English"),
        gettext_lazy("Words for artists, places, times and 36 other types."),
        "CC0-1.0",
        *_SNIPS,
        "snips.xz",
        (13_084, 700, 700),
        "6ef32f37c802012fb85f8f49cccfcc42d1a3132d7264220be5b3ca6953427dd1",
    ),
    DatasetCard(
        "sentence-polarity",
        gettext_lazy("Film reviews: polarity"),
        "classify",
        gettext_lazy("English"),
        gettext_lazy("Whether a sentence praises or criticises the film."),
        "CC-BY-4.0",
        "https://www.cs.cornell.edu/people/pabo/movie-review-data/",
        gettext_lazy("Sentence polarity dataset 1.0 by Bo Pang and Lillian Lee; packed for Headlight."),
        "Pang and Lee 2005, Seeing stars, doi:10.3115/1219840.1219855",
        "sentence-polarity.xz",
        (8_500, 1_000, 1_162),
        "e64e870507cdccf6a648e0e528b2fe4e8c79c15049b09e9221d4ef4eec2edda5",
    ),
    DatasetCard(
        "sib-200-en",
        gettext_lazy("SIB-200: topics, in {language}", language=gettext_lazy("English")),
        "classify",
        gettext_lazy("English"),
        gettext_lazy(
            "One of seven topics; the set in {language} has the same sentences.", language=gettext_lazy("Chinese")
        ),
        "CC-BY-SA-4.0",
        *_SIB,
        "sib-200-en.xz",
        (701, 99, 204),
        "34ae6ddd899379522341d838541d95afc754a6865db82773a51905735ddd049a",
    ),
    DatasetCard(
        "sib-200-zh",
        gettext_lazy("SIB-200: topics, in {language}", language=gettext_lazy("Chinese")),
        "classify",
        gettext_lazy("Chinese"),
        gettext_lazy(
            "One of seven topics; the set in {language} has the same sentences.", language=gettext_lazy("English")
        ),
        "CC-BY-SA-4.0",
        *_SIB,
        "sib-200-zh.xz",
        (701, 99, 204),
        "319986729ab9dd5069e250dc2b22cc67556b9293cfd6ff581ef4af3acf62a9bc",
    ),
    DatasetCard(
        "uner-zh",
        gettext_lazy("Chinese entities"),
        "tag",
        gettext_lazy("Chinese"),
        gettext_lazy("People, places and organisations in Wikipedia."),
        "CC-BY-SA-4.0",
        "https://github.com/UniversalNER/UNER_Chinese-GSDSIMP",
        gettext_lazy(
            "UNER Chinese GSDSimp by Mayhew et al., on UD Chinese GSDSimp by Peng Qi and Koichi "
            "Yasuoka; Wikipedia; changed."
        ),
        "Mayhew et al. 2024, Universal NER, aclanthology.org/2024.naacl-long.243",
        "uner-zh.xz",
        (3_997, 500, 500),
        "a5540892815cd06af2476c04ffa1fc4b2e1280273bb3d6d5688e7870b1cdc5c5",
    ),
    DatasetCard(
        "wnut-17",
        gettext_lazy("WNUT-17: rare and new names"),
        "tag",
        gettext_lazy("English"),
        gettext_lazy("People, places, groups, firms, products and works in posts; few occur twice."),
        "CC-BY-4.0",
        "https://github.com/leondz/emerging_entities_17",
        gettext_lazy(
            "WNUT 2017 by Leon Derczynski, Eric Nichols, Marieke van Erp and Nut Limsopatham; packed for Headlight."
        ),
        "Derczynski et al. 2017, Results of the WNUT2017 Shared Task, doi:10.18653/v1/W17-4418",
        "wnut-17.xz",
        (3_054, 340, 1_009),
        "2ab59f4ce0cecff40c18d66abb326a4370f01a081b7ec324d64631e1fd92bae8",
    ),
)
BY_ID = {card.id: card for card in CARDS}
QUESTIONS = DatasetCard(
    "questions-en",
    gettext_lazy("Questions on passages"),
    "answer",
    gettext_lazy("English"),
    gettext_lazy("Mark the answer in a passage, if it has one."),
    "CC-BY-SA-3.0",
    "https://en.wikipedia.org",
    gettext_lazy("Passages by the contributors of English Wikipedia, 2018; questions by Headlight"),
    "(titles in the file)",
    "questions-en.json",
    (126, 16, 15),
    "3f651e973e9b718cafa3b86035229144b5d7b407e3b0cd44174807a07eab4bcc",
)


@cache
def load(card_id: str) -> LabeledDataset:
    """Load the set with this card; raise UserError if the card is unknown.

    >>> load("sib-200-en").labels[:3]
    ('entertainment', 'geography', 'health')
    """
    card = BY_ID.get(card_id)
    if card is None:
        raise UserError(gettext_lazy("“{name}” is not one of {known}.", name=card_id[:40], known=", ".join(BY_ID)))
    train, dev, test = unpack(card.path.read_bytes())
    if card.kind == "classify":
        classes = [[parse_labeled(line) for line in part] for part in (train, dev, test)]
        return LabeledDataset("classify", tuple(sorted({row.label for row in classes[0]})), *classes)
    tags = [[parse_tagged(line) for line in part] for part in (train, dev, test)]
    return LabeledDataset("tag", bio_tags(kind for row in tags[0] for kind in kinds(row)), *tags)


def load_questions(seed: int) -> QuestionSet:
    """Load the bundled questions about passages; ``seed`` divides the passages into splits.

    >>> found = load_questions(seed=0)
    >>> (len(found.train), len(found.dev), len(found.test)) == QUESTIONS.rows
    True
    """
    found = read_questions(TaskFiles(File(QUESTIONS.file, QUESTIONS.path.read_bytes())), seed)
    said = f"{QUESTIONS.attribution} {QUESTIONS.citation}"
    return replace(found, name=QUESTIONS.title, licence=QUESTIONS.licence, attribution=said)
