"""Verbal quantities of the lessons, such as "half" or "nearly all", compared with the model."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pytest

from attention.record import Record
from attention.softmax import change_softmax_rules
from attention.toy_example import Numbers, attend
from inference import EMBEDDED
from inference.files.embedded import BERT
from inference.tasks.predictions import MaskedWords
from lessons.checks import truth
from lessons.library import come_along
from lessons.schema import CheckCall, LocalizedText
from tests.ui.pages.lessons.test_come_along import asked, step_of, teacher_s, texts
from ui.pages.by_hand.example import example_of, preset_of
from ui.run.services import get_backend

WORDS = re.compile(
    r"\b(half|third|quarter|twice|double|majority|mostly|most of|nearly|almost|hardly|few|fewer|as much as"
    r"|one in (?:two|three|four|five|ten|a)|\d+ to 1|(?<![\d.])\d+%|none at all|no single|clearest)(?!\w)",
    re.IGNORECASE,
)
TIRED = "The animal didn't cross the street because it was too tired."
STRANGER = "The party lost nine seats in the election."
WIDE = TIRED.replace("tired", "wide")
TEACHER = -1  # TEACHER is the step index of the teacher's page.


def number(name: str, at: int, check: str, **given: object) -> float:
    answer = truth(CheckCall(check, tuple(given.items())), asked(step_of(name, at))).answer
    assert isinstance(answer, float)
    return answer


def weight(layer: int, head: int, to: str = "animal", text: str = TIRED) -> float:
    return number("it_and_animal", 3, "weight", layer=layer, head=head, word="it", to=to, text=text)


def turning() -> float:
    return number("it_and_animal", 5, "heads_turning", word="it", to="animal", over="street", other=WIDE)


def is_clearest() -> bool:
    """Return True if 4-0 is the head that switches between the two texts with the largest margin."""
    maps = []
    for text in (TIRED, WIDE):
        view = asked(step_of("it_and_animal", 5)).reads({"text": text}).view()
        it, animal, street = (
            next(at for at, cell in enumerate(view.keys) if cell.label == word) for word in ("it", "animal", "street")
        )
        rows = view.trace.rows(it)
        maps.append(rows[..., animal] - rows[..., street])
    turn = np.where((maps[0] > 0) & (maps[1] < 0), maps[0] - maps[1], 0)
    layer, head = divmod(int(turn.argmax()), turn.shape[1])
    return (layer, head) == (4, 0)


def largest_undivided() -> float:
    """Return the mean of each row's largest weight over all heads, for unscaled scores."""
    trace = asked(step_of("attention", 5)).trace()
    records = [change_softmax_rules(record, scale=1.0) for record in trace.records() if isinstance(record, Record)]
    return float(np.mean([record.weights(head).max(-1) for record in records for head in range(record.heads)]))


def before() -> float:
    """Return the smallest weight of a word to its previous token in head 0-2."""
    view = asked(step_of("order", 3)).view()
    weights = view.trace.weights(0, 2)
    return min(float(weights[at, at - 1]) for at in range(1, len(view.keys) - 1))


def chance(at: int, word: str, **given: object) -> float:
    return number("masked_words", at, "guess_chance", word=word, **given)


def mixed() -> float:
    return number("attention", 4, "mix", weights=(0.05, 0.85, 0.10), values=(0, 10, 4))


def rank(at: int, word: str, **given: object) -> float:
    return number("masked_words", at, "guess_rank", word=word, **given)


def printed() -> Numbers:
    """Return the weights that a well-known tutorial prints, (row, token)."""
    return np.array(preset_of("tutorial")["printed"])


def any_row_keeps_its_order() -> bool:
    """Return True if a printed row has the order of its scores."""
    example = example_of("tutorial")
    scores = attend(example.x, example.w_q, example.w_k, example.w_v).scaled[0]
    return any(np.array_equal(row.argsort(), of.argsort()) for row, of in zip(printed(), scores, strict=False))


DOCTOR = "The doctor took off [MASK] coat and sat down."
ROBIN = "A robin is a [MASK]."
COMPUTED: dict[tuple[str, int, str], Callable[[], bool]] = {
    ("attention", 3, "nearly"): lambda: largest_undivided() > 0.9,
    ("attention", 3, "hardly"): lambda: largest_undivided() > 0.9,
    ("attention", 4, "nearly"): lambda: 8 < mixed() < 10,
    ("attention", 5, "most of"): lambda: weight(3, 1) > 0.5 and number("attention", 5, "tokens") == 16,
    ("it_and_animal", 3, "as much as"): lambda: abs(weight(5, 11) - weight(3, 1)) < 0.01,
    ("it_and_animal", TEACHER, "nearly"): lambda: abs(weight(5, 11) - weight(3, 1)) < 0.01,
    ("it_and_animal", 3, "half"): lambda: 0.45 < _usual() / weight(5, 11) < 0.55,
    ("it_and_animal", 3, "third"): lambda: abs(_usual() - 1 / 3) < 0.05,
    ("it_and_animal", 5, "few"): lambda: 0 < turning() < 7.2,
    ("it_and_animal", 5, "fewer"): lambda: turning() < 7.2,
    ("it_and_animal", 5, "one in ten"): lambda: turning() < 7.2,
    ("it_and_animal", 5, "clearest"): is_clearest,
    ("break_head", 0, "few"): lambda: 2 < number("break_head", 0, "pronoun_hits", layer=3, head=1) - 10 < 5,
    ("break_head", 0, "hardly"): lambda: number("break_head", 0, "pronoun_hits", layer=3, head=1) in (13, 14),
    ("three_trails", 0, "almost"): lambda: before() > 0.9,
    ("order", 2, "nearly"): lambda: number("order", 2, "change_by_order", first="dog", second="man") > 0.95,
    ("order", 3, "nearly"): lambda: before() > 0.9,
    ("masked_words", 4, "hardly"): lambda: abs(rank(4, "bird") - rank(4, "bird", text=ROBIN)) <= 5,
    ("masked_words", 5, "27 to 1"): lambda: round(chance(5, "his", text=DOCTOR) / chance(5, "her", text=DOCTOR)) == 27,
    ("masked_words", 5, "5 to 1"): lambda: round(chance(5, "his") / chance(5, "her")) == 5,
    ("claims_attention", 2, "40%"): lambda: printed()[0, 3] == 0.4 and not any_row_keeps_its_order(),
    ("claims_bert", 5, "94%"): lambda: round(number("claims_bert", 5, "pair_chance")) == 94,
    ("claims_bert", 5, "11%"): lambda: round(number("claims_bert", 5, "pair_chance", pair=STRANGER)) == 11,
    ("claims_finetuning", 2, "14%"): lambda: (
        round(number("claims_finetuning", 2, "commonest_label", data="snips-intents")) == 14
    ),
    ("claims_families", 4, "24%"): lambda: (
        round(number("claims_families", 4, "share_to_later", model=EMBEDDED, text=TIRED, part="encoder")) == 24
    ),
    ("translation", 4, "none at all"): lambda: number("translation", 4, "most_to_later") == 0,
}  # fmt: skip
OF_NO_MODEL = {
    ("claims_bert", 5, "half"),  # "half" refers to the pairs of the training data.
    ("claims_finetuning", 2, "90%"),  # "90%" is part of the claim.
    ("claims_finetuning", 5, "10%"),  # "10%" is the dropout rate that the step sets.
    ("it_and_animal", 1, "half"),  # "half" refers to a coin.
    ("it_and_animal", 4, "half"),  # "half" is part of "half true".
    ("it_and_animal", 8, "as much as"),  # "as much as" is part of "worth as much as".
}


def _usual() -> float:
    return number("it_and_animal", 3, "usual", layer=5, head=11, word="it", to="animal")


COUNTS: dict[str, Callable[[], set[int]]] = {  # The lessons count these things in models and texts.
    "heads": lambda: {_sizes(TIRED)[0] * _sizes(TIRED)[1], _sizes(TIRED)[1]},
    "layers": lambda: {_sizes(TIRED)[0]},
    "tokens": lambda: {_sizes(TIRED)[2], int(number("order", 5, "positions"))},
    "numbers": lambda: {_sizes(TIRED)[3]},
    "pieces": lambda: {get_backend().predict(MaskedWords(text="A [MASK].", model=BERT)).vocabulary},
}


def _sizes(text: str) -> tuple[int, int, int, int]:
    """Return the numbers of layers, heads and tokens, and the width of a query."""
    trace = asked(step_of("attention", 5)).reads({"text": text}).trace()
    return trace.layers, trace.heads, len(trace.source), trace.query(0, 0).shape[1]


@pytest.mark.slow
def test_every_count_in_the_lessons_is_the_model_s() -> None:
    every = [said for lesson in come_along().values() for step in lesson.steps for said in texts(step)]
    every += [said for lesson in come_along().values() for said in teacher_s(lesson)]
    found = [
        pair
        for said in every
        for pair in re.findall(r"\b(\d[\d,]*) (\w+)", said.in_language("en"))
        if pair[1] in COUNTS
    ]
    assert {kind for _number, kind in found} == set(COUNTS)
    assert [pair for pair in found if int(pair[0].replace(",", "")) not in COUNTS[pair[1]]()] == []


def stated(name: str, at: int, said: list[LocalizedText]) -> set[tuple[str, int, str]]:
    return {(name, at, found.lower()) for one in said for found in WORDS.findall(one.in_language("en"))}


def test_every_quantity_in_words_is_in_the_table() -> None:
    found: set[tuple[str, int, str]] = set()
    for name, lesson in come_along().items():
        found |= stated(name, TEACHER, list(teacher_s(lesson)))
        for at, step in enumerate(lesson.steps):
            found |= stated(name, at, list(texts(step)))
    assert found == {*COMPUTED, *OF_NO_MODEL}


@pytest.mark.slow
def test_a_quantity_in_words_is_true_of_the_model(subtests: pytest.Subtests) -> None:
    for (lesson, step, words), is_true in COMPUTED.items():
        with subtests.test(lesson=lesson, step=step, words=words):
            assert is_true()
