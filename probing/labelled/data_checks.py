"""What is worth knowing of labelled texts before a model learns from them: each a value with its sentence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, islice, zip_longest

from i18n import gettext_lazy, join_sentences, ngettext_lazy
from probing.labelled.evaluation import spans
from probing.labelled.files import kinds
from probing.labelled.labeled_texts import LabeledDataset, LabeledText, TaggedText

LOPSIDED = 0.8  # a class's share from which on always guessing it looks like skill
MOST_MEASURED = 5_000  # texts that are cut into pieces to say how many are too long
SHOWN = 3  # examples

Rows = Sequence[LabeledText] | Sequence[TaggedText]


def parts(labels: LabeledDataset) -> dict[str, Rows]:
    """The rows by part."""
    return {"train": labels.train, "dev": labels.dev, "test": labels.test}


def all_rows(labels: LabeledDataset) -> list[LabeledText | TaggedText]:
    """The rows of all parts."""
    return [*labels.train, *labels.dev, *labels.test]


def preview(labels: LabeledDataset, most: int = 10) -> list[LabeledText | TaggedText]:
    """Rows of train to look at: the first of each class or kind by turns, then the second of each, and so on.

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
    """How often each class is, or each kind of span, by part."""

    counts: dict[str, dict[str, int]]  # by part, then by class or kind, the most frequent of train first
    kind: str

    @property
    def largest(self) -> tuple[str, float]:
        """The most frequent of train, and its share there, 0 to 1."""
        train = self.counts["train"]
        label = next(iter(train))
        return label, train[label] / sum(train.values())

    @property
    def sentence(self) -> str:
        """What there is, and what always guessing the same would score."""
        label, share = self.largest
        many = len(self.counts["train"])
        if self.kind == "tag":
            return ngettext_lazy(
                "{many} kind of spans; “{label}” is {share:.0%} of those in train.",
                "{many} kinds of spans; “{label}” is {share:.0%} of those in train.",
                many,
                many=many,
                label=label,
                share=share,
            )
        said = gettext_lazy(
            "{many} classes; “{label}” is {share:.0%} of train, and as often right if it is always guessed.",
            many=many,
            label=label,
            share=share,
        )
        little = gettext_lazy("Accuracy says little here: look at macro F1.")
        return join_sentences(said, little) if share >= LOPSIDED else said


def balance(labels: LabeledDataset) -> Balance:
    """The classes of rows, or the kinds of their spans, counted."""
    counts = {part: Counter(chain.from_iterable(map(_labels_of, rows))) for part, rows in parts(labels).items()}
    order = [label for label, _ in counts["train"].most_common()]
    return Balance({part: {label: found[label] for label in order} for part, found in counts.items()}, labels.kind)


def _labels_of(row: LabeledText | TaggedText) -> list[str]:
    return [row.label] if isinstance(row, LabeledText) else [kind for kind, *_ in spans(row.tags)]


@dataclass(frozen=True)
class Duplicates:
    """Texts that stand more than once. ``across`` are texts of dev or test that stand in an earlier part, too."""

    across: dict[tuple[str, str], int]  # by the earlier part and the later one
    within: int  # rows of train whose text stood in it before
    contradictory: int  # texts that stand with different labels, in any parts
    examples: tuple[str, ...]  # of those

    @property
    def sentence(self) -> str:
        """What there is of them, and what it does."""
        shared = [(parts, many) for parts, many in self.across.items() if many]
        said = [
            gettext_lazy(
                "Texts of {later} that stand in {earlier}, too: {many:,}.", later=later, earlier=earlier, many=many
            )
            for (earlier, later), many in shared
        ]
        if said:
            said.append(gettext_lazy("Scores on them flatter."))
        if self.within:
            said.append(gettext_lazy("Rows of train that repeat a text: {within:,}.", within=self.within))
        if self.contradictory:
            said.append(
                gettext_lazy(
                    "Texts with different labels: {contradictory:,}; nothing learns them.",
                    contradictory=self.contradictory,
                )
            )
        return join_sentences(*said) or gettext_lazy("No text stands twice.")


def duplicates(labels: LabeledDataset) -> Duplicates:
    """Texts that are the same letter for letter.

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


# Each text's tokens, special ones included, and those of them that are unknown.
Measure = Callable[[Sequence[str]], Iterable[tuple[int, int]]]


@dataclass(frozen=True)
class LengthFit:
    """How texts fit a model: those that it would cut, and what its vocabulary lacks."""

    length: int  # tokens that it reads
    texts: int  # that were measured
    of: int  # that there are
    cut: int  # of those measured
    longest: int  # tokens
    tokens: int
    unknown: int  # of these tokens

    @property
    def unreadable(self) -> str:
        """Why a training would learn little: the model knows too few of the tokens; "" if it knows enough."""
        if 3 * self.unknown < self.tokens:
            return ""
        return gettext_lazy(
            "The model does not know {unknown:,} of {tokens:,} tokens of these texts, so it would learn little from"
            " them. Start from a model that knows their language.",
            unknown=self.unknown,
            tokens=self.tokens,
        )

    @property
    def sentence(self) -> str:
        """What is lost."""
        measured = (
            gettext_lazy("{texts:,} texts (evenly taken from {of:,})", texts=self.texts, of=self.of)
            if self.texts < self.of
            else gettext_lazy("{texts:,} texts", texts=self.texts)
        )
        lost = (
            gettext_lazy(
                "longer than {length} tokens, and so cut: {cut:,} ({share:.1%}).",
                length=self.length,
                cut=self.cut,
                share=self.cut / self.texts,
            )
            if self.cut
            else gettext_lazy(
                "none is longer than {length} tokens, the longest has {longest:,}.",
                length=self.length,
                longest=self.longest,
            )
        )
        unknown = gettext_lazy(
            "Unknown to the model: {unknown:,} of {tokens:,} tokens ({share:.1%}).",
            unknown=self.unknown,
            tokens=self.tokens,
            share=self.unknown / self.tokens,
        )
        said = gettext_lazy("{texts} were measured; {lost}", texts=measured, lost=lost)
        return join_sentences(said, unknown) if self.unknown else said


def fit(labels: LabeledDataset, measure: Measure, length: int, most: int = MOST_MEASURED) -> LengthFit:
    """How the texts of all parts fit a model that reads ``length`` tokens; at most ``most`` of them are measured.

    >>> rows = [LabeledText("a b c", "x"), LabeledText("d", "y")]
    >>> def words(texts):
    ...     return [(len(text.split()), text.count("d")) for text in texts]
    >>> fit(LabeledDataset("classify", ("x", "y"), rows, (), ()), words, 2).sentence
    '2 texts were measured; longer than 2 tokens, and so cut: 1 (50.0%). Unknown to the model: 1 of 4 tokens (25.0%).'
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
