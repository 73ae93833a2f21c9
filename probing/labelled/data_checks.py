"""Checks of labelled texts before training: class balance, duplicates and text lengths."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, islice, zip_longest

from i18n import gettext_lazy, join_sentences
from probing.labelled.evaluation import spans
from probing.labelled.files import kinds
from probing.labelled.labeled_texts import LabeledDataset, LabeledText, TaggedText
from probing.labelled.squad import PassageQuestion, QuestionSet

LOPSIDED = 0.8  # share of a class above which accuracy is misleading
MOST_MEASURED = 5_000  # maximal number of texts that are tokenized to measure lengths
SHOWN = 3  # number of examples

Rows = Sequence[LabeledText] | Sequence[TaggedText]


def parts(labels: LabeledDataset) -> dict[str, Rows]:
    """Return the rows of a dataset by split: train, dev and test."""
    return {"train": labels.train, "dev": labels.dev, "test": labels.test}


def all_rows(labels: LabeledDataset) -> list[LabeledText | TaggedText]:
    """Return the rows of train, dev and test in a single list."""
    return [*labels.train, *labels.dev, *labels.test]


def preview(labels: LabeledDataset, most: int = 10) -> list[LabeledText | TaggedText]:
    """Return rows of train for a preview: one of each label, then a second of each, and so on.

    >>> rows = [LabeledText(text, text[0]) for text in ("a1", "a2", "a3", "b1")]
    >>> [row.text for row in preview(LabeledDataset("classify", ("a", "b"), rows, (), ()), 3)]
    ['a1', 'b1', 'a2']
    """
    of_kind: dict[str, list[LabeledText | TaggedText]] = {}
    for row in labels.train:
        some = of_kind.setdefault(min(kinds(row), default=""), [])
        if len(some) < most:
            some.append(row)
    by_turns = chain.from_iterable(zip_longest(*(of_kind[kind] for kind in sorted(of_kind))))
    return list(islice((row for row in by_turns if row is not None), most))


@dataclass(frozen=True)
class Balance:
    """The number of texts with each label (or of spans of each type) in each split."""

    counts: dict[str, dict[str, int]]  # split -> class or kind -> count, by decreasing frequency in train
    kind: str

    @property
    def largest(self) -> tuple[str, float]:
        """Return the most frequent label (or span type) of train, and its share of all labels there, 0 to 1."""
        train = self.counts["train"]
        label = next(iter(train))
        return label, train[label] / sum(train.values())

    @property
    def sentence(self) -> str:
        """Return a message with the number of labels and the share of the majority class."""
        label, share = self.largest
        many = len(self.counts["train"])
        if self.kind == "tag":
            return gettext_lazy(
                "Span types: {many}; “{label}” is {share:.0%} of train.",
                many=many,
                label=label,
                share=share,
            )
        said = gettext_lazy(
            "{many} classes; always guessing “{label}” is right for {share:.0%} of train.",
            many=many,
            label=label,
            share=share,
        )
        little = gettext_lazy("Accuracy says little here: see macro F1.")
        return join_sentences(said, little) if share >= LOPSIDED else said


def balance(labels: LabeledDataset) -> Balance:
    """Count the labels (or span types) in each split."""
    counts = {part: Counter(chain.from_iterable(map(_labels_of, rows))) for part, rows in parts(labels).items()}
    order = [label for label, _ in counts["train"].most_common()]
    return Balance({part: {label: found[label] for label in order} for part, found in counts.items()}, labels.kind)


def _labels_of(row: LabeledText | TaggedText) -> list[str]:
    return [row.label] if isinstance(row, LabeledText) else [kind for kind, *_ in spans(row.tags)]


@dataclass(frozen=True)
class Duplicates:
    """Counts of texts that occur more than once in the train, dev and test splits.

    ``across`` maps (earlier split, later split) to the number of distinct texts that are in both. ``within`` is the
    number of repeated rows in train, and ``contradictory`` that of texts with different labels.
    """

    across: dict[tuple[str, str], int]  # by (earlier split, later split)
    within: int  # rows of train that repeat the text of an earlier row
    contradictory: int  # texts with different labels, in any splits
    examples: tuple[str, ...]  # examples of contradictory texts

    @property
    def sentence(self) -> str:
        """Return a message about the repeated texts and their effects."""
        shared = [(parts, many) for parts, many in self.across.items() if many]
        said = [
            gettext_lazy(
                "Texts of {later} that are also in {earlier}: {many:,}.", later=later, earlier=earlier, many=many
            )
            for (earlier, later), many in shared
        ]
        if said:
            said.append(gettext_lazy("Scores on them flatter."))
        if self.within:
            said.append(gettext_lazy("Repeated texts in train: {within:,}.", within=self.within))
        if self.contradictory:
            said.append(
                gettext_lazy(
                    "Texts with contradictory labels: {contradictory:,}.",
                    contradictory=self.contradictory,
                )
            )
        return join_sentences(*said) or gettext_lazy("No text is repeated.")


def duplicates(labels: LabeledDataset) -> Duplicates:
    """Count the texts that occur more than once, within or across splits.

    >>> train, dev = [LabeledText("a", "x"), LabeledText("b", "y")], [LabeledText("a", "y")]
    >>> found = duplicates(LabeledDataset("classify", ("x", "y"), train, dev, ()))
    >>> found.across["train", "dev"], found.contradictory
    (1, 1)
    """
    first: dict[str, LabeledText | TaggedText] = {}
    differ: dict[str, None] = {}
    for row in all_rows(labels):
        if first.setdefault(row.text, row) != row:
            differ[row.text] = None
    texts = {part: {row.text for row in rows} for part, rows in parts(labels).items()}
    pairs = (("train", "dev"), ("train", "test"), ("dev", "test"))
    across = {(earlier, later): len(texts[earlier] & texts[later]) for earlier, later in pairs}
    return Duplicates(across, len(labels.train) - len(texts["train"]), len(differ), tuple(islice(differ, SHOWN)))


# Numbers of tokens (special tokens included) and of unknown tokens for each text.
Measure = Callable[[Sequence[str]], Iterable[tuple[int, int]]]


@dataclass(frozen=True)
class LengthFit:
    """The number of texts that a model truncates, and the number of tokens unknown to it."""

    length: int  # maximal tokens of the model
    texts: int  # measured texts
    of: int  # all texts
    cut: int  # truncated texts among the measured texts
    longest: int  # tokens of the longest text
    tokens: int
    unknown: int  # unknown tokens among ``tokens``

    @property
    def unreadable(self) -> str:
        """Return a message if at least a third of the tokens are unknown to the model, else ""."""
        if 3 * self.unknown < self.tokens:
            return ""
        return gettext_lazy(
            "The model does not know {unknown:,} of {tokens:,} tokens. Choose a model of their language.",
            unknown=self.unknown,
            tokens=self.tokens,
        )

    @property
    def sentence(self) -> str:
        """Return a message about truncated texts and unknown tokens."""
        measured = (
            gettext_lazy("{texts:,} texts (evenly taken from {of:,})", texts=self.texts, of=self.of)
            if self.texts < self.of
            else gettext_lazy("{texts:,} texts", texts=self.texts)
        )
        lost = (
            gettext_lazy(
                "cut to {length} tokens: {cut:,} ({share:.1%}).",
                length=self.length,
                cut=self.cut,
                share=self.cut / self.texts,
            )
            if self.cut
            else gettext_lazy(
                "none exceeds {length} tokens; the longest has {longest:,}.",
                length=self.length,
                longest=self.longest,
            )
        )
        unknown = gettext_lazy(
            "Unknown tokens: {unknown:,} of {tokens:,} ({share:.1%}).",
            unknown=self.unknown,
            tokens=self.tokens,
            share=self.unknown / self.tokens,
        )
        said = gettext_lazy("{texts} were measured; {lost}", texts=measured, lost=lost)
        return join_sentences(said, unknown) if self.unknown else said


def fit(labels: LabeledDataset, measure: Measure, length: int, most: int = MOST_MEASURED) -> LengthFit:
    """Count the truncated texts and unknown tokens, for a model that reads ``length`` tokens.

    The texts are those of all splits, at most ``most`` of them. ``measure`` takes texts and returns a pair for each:
    its number of tokens, and that of unknown tokens.

    >>> rows = [LabeledText("a b c", "x"), LabeledText("d", "y")]
    >>> def words(texts):
    ...     return [(len(text.split()), text.count("d")) for text in texts]
    >>> fit(LabeledDataset("classify", ("x", "y"), rows, (), ()), words, 2).sentence
    '2 texts were measured; cut to 2 tokens: 1 (50.0%). Unknown tokens: 1 of 4 (25.0%).'
    """
    texts = [row.text for row in all_rows(labels)]
    measured = list(measure(texts[:: -(-len(texts) // most)]))
    sizes = [tokens for tokens, _ in measured]
    return LengthFit(
        length,
        len(measured),
        len(texts),
        sum(size > length for size in sizes),
        max(sizes),
        sum(sizes),
        sum(unknown for _, unknown in measured),
    )


def question_texts(questions: QuestionSet) -> LabeledDataset:
    """Convert questions to texts without labels (question and passage), so that ``fit`` can measure them."""
    return _as_texts(questions, lambda row: f"{row.question} {row.passage}")


def passage_texts(questions: QuestionSet) -> LabeledDataset:
    """Convert the passages of each split to texts without labels, so that ``duplicates`` can count them."""
    return _as_texts(questions, lambda row: row.passage)


def _as_texts(questions: QuestionSet, text: Callable[[PassageQuestion], str]) -> LabeledDataset:
    parts = (questions.train, questions.dev, questions.test)
    train, dev, test = ([LabeledText(one, "") for one in dict.fromkeys(map(text, rows))] for rows in parts)
    return LabeledDataset("classify", (), train, dev, test)
