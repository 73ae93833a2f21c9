"""Conversion of all tagging schemes to BIO without changes of spans."""

from __future__ import annotations

import random

import pytest

from inference.errors import UserError
from probing.labelled.conll import bio_tags, check_tag, is_tag, to_bio
from probing.labelled.evaluation import Span, spans
from tests.support.cases import draw_seeds, loop_over


def written(scheme: str, words: int, found: list[Span]) -> list[str]:
    """Return the tags of a sentence in a scheme, given by its begin, inside, end and single letters."""
    begin, inside, end, alone = list(scheme)
    tags = ["O"] * words
    for kind, first, last in found:
        tags[first:last] = [f"{inside}-{kind}"] * (last - first)
        tags[last - 1] = f"{end}-{kind}"
        tags[first] = f"{begin if last - first > 1 else alone}-{kind}"
    return tags


def iob1(words: int, found: list[Span]) -> list[str]:
    """Return IOB1 tags: a B only if a span of the same type ends directly before."""
    tags = written("IIII", words, found)
    for kind, first, _ in found:
        if any(other == kind and last == first for other, _, last in found):
            tags[first] = f"B-{kind}"
    return tags


def drawn(seed: int) -> tuple[int, list[Span]]:
    """Return a random sentence length and random spans."""
    dice = random.Random(seed)
    words, found, at = dice.randint(1, 20), [], 0
    while (first := at + dice.choice([0, 0, 1, 3])) < words:
        at = min(words, first + dice.randint(1, 4))
        found.append((dice.choice(["A", "B-b"]), first, at))
    return words, found


@draw_seeds(50)
@loop_over("scheme", ["BIIB", "BIES", "BILU", "BMES"])
def test_every_scheme_keeps_its_spans_and_becomes_bio(scheme: str, seed: int) -> None:
    words, found = drawn(seed)
    turned = to_bio(written(scheme, words, found))
    assert turned == written("BIIB", words, found)
    assert spans(turned) == found


@draw_seeds(50)
def test_iob1_keeps_its_spans_and_what_is_bio_stays(seed: int) -> None:
    words, found = drawn(seed)
    turned = to_bio(iob1(words, found))
    assert spans(turned) == found
    assert to_bio(turned) == turned


@loop_over(
    ("tags", "said"),
    [
        ("O I-A I-A", "O B-A I-A"),
        ("B-A I-B", "B-A B-B"),
        ("E-A E-A", "B-A B-A"),
        ("S-A I-A", "B-A B-A"),
        ("B-A O E-A", "B-A O B-A"),
        ("B-A M-A L-A I-A", "B-A I-A I-A B-A"),
    ],
)
def test_what_goes_on_with_nothing_begins(tags: str, said: str) -> None:
    assert to_bio(tags.split()) == said.split()


@loop_over("tag", ["", "o", "B", "B-", "B- ", "X-PER", "NOUN", "BPER", "0"])
def test_what_is_no_tag_is_refused_with_its_line(tag: str) -> None:
    assert not is_tag(tag)
    with pytest.raises(UserError, match=f"Line 7 has the tag “{tag}”"):
        check_tag(tag, 7)


def test_a_models_tags_begin_with_o_and_have_both_of_each_kind() -> None:
    assert bio_tags(["LOC", "ART", "LOC"]) == ("O", "B-ART", "I-ART", "B-LOC", "I-LOC")
