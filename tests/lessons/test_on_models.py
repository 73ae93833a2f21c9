"""Lesson checks on the embedded models, compared with numbers computed in another way."""

from __future__ import annotations

from math import exp
from typing import Any

import numpy as np
import pytest

import headlight
from inference import EMBEDDED
from inference.files.embedded import BERT, TRANSLATOR
from inference.tasks.anatomy import Anatomy
from inference.tasks.predictions import NextSentence
from lessons.answer_key import CheckContext, CheckedAnswer, CheckInput, Unanswerable
from lessons.checks import truth
from lessons.schema import CheckCall
from tests.support.cases import loop_over
from ui.run.services import get_backend

TIRED = "The animal didn't cross the street because it was too tired."
CAT = "The black cat sleeps under the table."
WRONG = "Le chien noir dort sous la table."
PAIR = {"model": BERT, "text": "The cat sat on the mat.", "pair": "It was asleep within a minute."}


def found(check: str, given: dict[str, Any], **reading: Any) -> CheckedAnswer:
    context = CheckContext(get_backend(), CheckInput(**{"model": EMBEDDED, "text": TIRED, **reading}))
    return truth(CheckCall(check, tuple(given.items())), context)


def number(check: str, given: dict[str, Any], **reading: Any) -> float:
    answer = found(check, given, **reading).answer
    assert isinstance(answer, float)
    return answer


def entropy_of_products() -> float:
    """Return the mean entropy in bits of softmax(q · k) without a scale, over all rows of all heads."""
    trace = CheckContext(get_backend(), CheckInput(EMBEDDED, TIRED)).trace()
    rows = []
    for layer in range(trace.layers):
        for head in range(trace.heads):
            scores = trace.query(layer, head).astype(float) @ trace.key(layer, head).astype(float).T
            powers = np.exp(scores - scores.max(-1, keepdims=True))
            shares = powers / powers.sum(-1, keepdims=True)
            rows.append(-(shares * np.log2(np.maximum(shares, 1e-300))).sum(-1))
    return float(np.mean(rows))


@pytest.mark.slow
def test_undivided_scores_have_the_entropy_of_their_products() -> None:
    assert number("mean_entropy", {"scaled": False}) == pytest.approx(entropy_of_products(), abs=1e-3)


@pytest.mark.slow
def test_the_largest_source_and_the_hits_are_those_of_the_commands() -> None:
    given = {"layer": 3, "head": 1, "word": "it", "to": "animal"}
    terms = headlight.why(TIRED, "3-1", "it", "animal")["terms"]
    for side in ("query", "key"):
        sums: dict[str, float] = {}
        for term in terms:
            source = term[f"{side}_source"]
            sums[source] = sums.get(source, 0.0) + term["centred"]
        largest = max(sums, key=lambda source: sums[source])
        assert found("largest_source", {**given, "side": side}).answer == largest.replace(" ", "_")
    hits = [[number("pronoun_hits", {"layer": 1, "head": head}) for head in (3, 4)], [18.0, 7.0]]
    assert hits[0] == hits[1]
    with pytest.raises(Unanswerable):
        found("pronoun_hits", {"layer": 6, "head": 0})


@pytest.mark.slow
def test_the_two_losses_add_up_and_depend_on_the_sample() -> None:
    one, other = (found("joint_loss", {"seed": seed}, **PAIR) for seed in (1, 2))
    values = one.said.values
    assert values["words"] + values["follows"] == pytest.approx(one.answer)
    assert min(values["words"], values["follows"]) > 0
    assert one.answer != other.answer


@pytest.mark.slow
def test_a_pair_is_judged_in_both_orders() -> None:
    swapped = NextSentence(model=BERT, text=PAIR["pair"], pair=PAIR["text"])
    chance = get_backend().predict(swapped).probability
    assert number("pair_chance", {"swapped": True}, **PAIR) == pytest.approx(100 * chance)
    assert number("pair_chance", {}, **PAIR) != pytest.approx(100 * chance)


@pytest.mark.slow
def test_a_sample_s_loss_is_below_that_of_a_uniform_guess() -> None:
    said = found("masked_loss", {"seed": 6}, model=BERT, text=" ".join([TIRED] * 4)).said.values
    assert said["loss"] < said["uniform"]
    assert exp(said["uniform"]) == pytest.approx(get_backend().inspect(Anatomy(model=BERT)).vocabulary)
    assert said["hidden"] + said["replaced"] + said["kept"] == round(0.15 * said["tokens"])


@pytest.mark.slow
def test_teacher_forcing_gives_the_numbers_of_single_steps() -> None:
    for word in ("chien", "noir"):
        right = found("forced_chance", {"word": word}, model=TRANSLATOR, text=CAT, target=WRONG)
        assert right.said.values["alone"] == pytest.approx(right.said.values["chance"], abs=1e-5)
        assert right.answer == pytest.approx(100 * right.said.values["chance"])


@pytest.mark.slow
def test_numpy_agrees_with_both_models() -> None:
    for reading in ({"text": TIRED}, {"model": TRANSLATOR, "text": CAT}):
        assert 0 < found("numpy_stages", {}, **reading).said.values["away"] < 1e-4


@pytest.mark.slow
@loop_over(
    ("check", "given", "reading", "answer"),
    [
        ("size", {"of": "width"}, {}, 384),
        ("size", {"of": "layers"}, {"model": TRANSLATOR, "part": "decoder"}, 3),
        ("bert_base_size", {"of": "heads"}, {}, 12),
        ("head_parameters", {"data": "snips-intents"}, {}, 7 * 384 + 7),
        ("commonest_label", {"data": "snips-intents"}, {}, 100 / 7),
        ("trainable_share", {"frozen": 6}, {}, 100 * (384 * 384 + 384) / 22_713_216),
        ("dropout_values", {"share": 0}, {"model": BERT, "text": "A [MASK]."}, 1),
        ("dropout_values", {"share": 50}, {"model": BERT, "text": "A [MASK]."}, 8),
        ("share_to_later", {}, {"model": TRANSLATOR, "text": CAT, "part": "decoder"}, 0),
        ("text_cosine", {"other": TIRED}, {}, 1),
        ("word_cosine", {"word": "animal", "other": TIRED}, {}, 1),
    ],
)
def test_on_the_embedded_models(check: str, given: dict[str, Any], reading: dict[str, Any], answer: float) -> None:
    assert number(check, given, **reading) == pytest.approx(answer, rel=1e-5)


@pytest.mark.slow
@loop_over(
    ("check", "given"),
    [
        ("size", {"of": "mass"}),
        ("bert_base_size", {"of": "mass"}),
        ("parameter_share", {"of": "mass"}),
        ("trainable_share", {"frozen": 7}),
        ("forced_chance", {"word": "chat"}),
        ("word_cosine", {"word": "zebra", "other": TIRED}),
        ("word_cosine", {"word": "animal", "other": TIRED, "level": 9}),
        ("text_cosine", {"other": TIRED, "pooling": "max"}),
    ],
)
def test_what_a_model_cannot_answer_is_refused(check: str, given: dict[str, Any]) -> None:
    with pytest.raises(Unanswerable):
        found(check, given)
