"""Exact match and F1 equal SQuAD's official scripts, on edge cases and on random answers."""

from __future__ import annotations

import collections
import random
import re
import string

import pytest

from probing.labelled.answer_scores import (
    answer_f1,
    answer_tokens,
    baseline_scores,
    exact_match,
    nearest_sentence,
    normalize_answer,
    score_answer,
    score_answers,
    sentences,
)
from probing.labelled.squad import GoldAnswer, PassageQuestion


def official_normal(text: str) -> str:
    """Return the text as normalize_answer of evaluate-v2.0.py does."""
    text = "".join(ch for ch in text.lower() if ch not in set(string.punctuation))
    return " ".join(re.sub(re.compile(r"\b(a|an|the)\b", re.UNICODE), " ", text).split())


def official_f1(gold: str, said: str, version2: bool) -> float:
    """Return the F1 as compute_f1 of evaluate-v2.0.py does, or f1_score of evaluate-v1.1.py."""
    gold_tokens, said_tokens = official_normal(gold).split(), official_normal(said).split()
    common = collections.Counter(gold_tokens) & collections.Counter(said_tokens)
    same = sum(common.values())
    if version2 and (not gold_tokens or not said_tokens):
        return float(gold_tokens == said_tokens)
    if same == 0:
        return 0.0
    precision, recall = same / len(said_tokens), same / len(gold_tokens)
    return 2 * precision * recall / (precision + recall)


WORDS = [
    "the",
    "a",
    "An",
    "tower",
    "Tower,",
    "U.S.",
    "café",
    "1,000",
    "-",
    "the-the",
    "\u2019s",
    "$5",
    "\u00a0",
    "“x”",
    "…",
]


@pytest.mark.parametrize("version2", [False, True])
def test_scores_equal_the_official_ones_at_random(version2: bool) -> None:
    draw = random.Random(5)
    for _ in range(2_000):
        gold, said = (" ".join(draw.choices(WORDS, k=draw.randrange(0, 6))) for _ in range(2))
        assert normalize_answer(gold) == official_normal(gold)
        assert exact_match(said, gold) == float(official_normal(gold) == official_normal(said))
        assert answer_f1(said, gold, version2) == pytest.approx(official_f1(gold, said, version2))


def test_published_edge_cases(subtests: pytest.Subtests) -> None:
    for said, gold, exact, f1 in [
        ("the Eiffel Tower", "Eiffel tower.", 1.0, 1.0),
        ("U.S.", "us", 1.0, 1.0),
        ("in 1,000 years", "1000 years", 0.0, 0.8),
        ("Denver Broncos beat", "Denver Broncos", 0.0, 0.8),
        ("blue blue sky", "blue sky", 0.0, 0.8),  # a repeated word counts as often as it occurs in both
        ("the", "", 1.0, 1.0),  # an article is nothing after normalisation
        ("", "Denver", 0.0, 0.0),
        ("theatre", "atre", 0.0, 0.0),  # articles are whole words only
        ("don't", "dont", 1.0, 1.0),
    ]:
        with subtests.test(said=said, gold=gold, exact=exact, f1=f1):
            assert (exact_match(said, gold), round(answer_f1(said, gold), 6)) == (exact, f1)


def asked(*golds: str, text: str = "Who?", passage: str = "") -> PassageQuestion:
    return PassageQuestion("1", text, passage or " ".join(golds), tuple(GoldAnswer(gold, 0) for gold in golds))


def test_the_best_of_several_golds_counts() -> None:
    assert score_answer("old tower", asked("Paris", "the old tower"), no_answer=False) == (1.0, 1.0)
    assert score_answer("tower", asked("Paris", "tower of Pisa"), no_answer=False) == (0.0, 0.5)


def test_no_answer_is_right_only_if_there_is_none() -> None:
    questions = [asked(), asked("Paris"), asked(), asked("Paris")]
    found = score_answers(["", "", "Paris", "Paris"], questions, no_answer=True)
    assert found["exact_match"] == found["f1"] == 0.5
    assert found["has_answer_f1"] == found["no_answer_f1"] == 0.5


def test_golds_of_nothing_count_as_their_version_does() -> None:
    assert score_answer("the", asked("The"), no_answer=False) == (1.0, 0.0)  # 1.1 has no rule for empty answers
    assert score_answer("", asked("The"), no_answer=True) == (1.0, 1.0)


def test_each_chinese_letter_is_a_token() -> None:
    assert answer_tokens("北京市 2008") == ["北", "京", "市", "2008"]
    assert answer_f1("北京市", "北京") == pytest.approx(0.8)
    assert exact_match("北京市", "北京") == 0.0


def test_the_baseline_is_the_sentence_with_most_words_of_the_question() -> None:
    passage = "It rained. Bob walked to the old station at noon. Ann slept."
    one = asked("noon", text="When did Bob walk to the station?", passage=passage)
    assert nearest_sentence(one.question, passage) == sentences(passage)[1]
    assert baseline_scores([one], no_answer=False)["baseline_f1"] == pytest.approx(2 / 8)
    assert baseline_scores([asked(passage=passage)], no_answer=True)["baseline_f1"] == 0.0


def test_chinese_sentences_need_no_spaces() -> None:
    assert nearest_sentence("谁住在巴黎？", "天下雨了。安娜住在巴黎。鲍勃睡了。") == "安娜住在巴黎。"
