"""Claims of the tutorials about models, compared with their numbers."""

from __future__ import annotations

import re
from collections.abc import Callable
from math import exp

import numpy as np
import pytest

from inference import EMBEDDED
from inference.files.embedded import BERT, TRANSLATOR
from inference.tasks.predictions import MaskedWords, NextSentence
from tests.support.cases import loop_over
from ui.pages.tutorials import attention, bert, families, finetuning, themes, translation
from ui.pages.tutorials.options import TutorialsOptions
from ui.pages.tutorials.station import TIRED, Claim, get_trace
from ui.run.services import get_backend
from ui.state.view_state import ViewState

N = r"(-?\d[\d,]*(?:\.\d+)?(?:e-\d+)?)"
TINY = r"(\d\.\d) × 10⁻([⁰¹²³⁴⁵⁶⁷⁸⁹]+)"
LOW = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")


def said(claim: Claim, choice: ViewState | None = None, options: TutorialsOptions | None = None) -> str:
    return claim(choice or ViewState(), options or TutorialsOptions()).removesuffix(".")


def numbers(pattern: str, sentence: str) -> list[float]:
    found = re.search(pattern, sentence)
    assert found, sentence
    return [float(group.replace(",", "")) for group in found.groups()]


def below(limit: float) -> Callable[[str], bool]:
    def holds(sentence: str) -> bool:
        found = re.search(TINY, sentence)
        assert found, sentence
        return 0 < float(found[1]) * 10.0 ** -int(found[2].translate(LOW)) < limit

    return holds


def peaked() -> int:
    """Return the percentage of unscaled attention rows with a weight above 0.9.

    The rows are computed from the stored queries and keys.
    """
    trace = get_trace(TIRED)
    largest = []
    for layer in trace.attending():
        for head in range(trace.heads):
            scores = trace.query(layer, head).astype(float) @ trace.key(layer, head).astype(float).T
            powers = np.exp(scores - scores.max(-1, keepdims=True))
            largest.append((powers / powers.sum(-1, keepdims=True)).max(-1))
    return round(100 * float(np.mean(np.array(largest) > 0.9)))


# Each entry has a claim, a pattern of its numbers, and a condition under which its sentence is true.
TOLD: list[tuple[Claim, str, Callable[..., bool]]] = [
    (
        attention.cost,
        f"has {N} tokens, a vector {N}.* multiplies {N} times in a layer .*recurrent one {N} times.* costs less"
        f".*beyond n = {N} it",
        lambda n, d, one, two, turn: one == n * n * d and two == n * d * d and one < two and turn == d,
    ),
    (attention.own_key, f"key of “animal” best; its own key comes in place {N} of {N}", lambda at, of: 1 < at <= of),
    (
        attention.printed_weights,
        f"0.10 0.20 0.30 0.40; the softmax .* up to {N} apart.*none does",
        lambda apart: apart > 0.1,
    ),
    (
        attention.unscaled_scores,
        f"{EMBEDDED}'s {N} heads spread over {N} bits.* over {N}\\. Then {N}% .* more than {N};",
        lambda _n, a, b, share, _steep: b < a / 2 and share == peaked(),
    ),
    (
        attention.described_heads,
        f"“animal” {N} and “street” {N} .* still prefers the animal: {N} to {N}. Of {N} heads, {N} change",
        lambda a, s, b, t, of, turned: a > 10 * s and b > t and b < a and 0 < turned < of / 10,
    ),
    (attention.order, f"differ by up to {N} from the same", lambda apart: apart > 0.1),
    (attention.numpy_error, f"All {N} stages", lambda stages: stages > 60),
    (bert.subword_count, f"“running” is one piece.*“embedding” falls into {N}: em ##bed", lambda pieces: pieces == 3),
    (
        bert.position_table,
        f"are learned: a table of {N} × {N} weights .* up to {N} from.*: {N} pieces",
        lambda rows, columns, away, reads: (rows, columns) == (512, 384) and away > 0.5 and reads == rows,
    ),
    (
        bert.layers,
        f"BERT-base has {N} layers of {N} heads and vectors of {N} .*: {N} layers of {N} heads, vectors of {N}",
        lambda *sizes: sizes == (12, 12, 768, 6, 12, 384),
    ),
    (
        bert.corruption_loss,
        f"{N} of {N} pieces are .* {N} hidden, {N} replaced and {N} kept; .* loss is {N}.* each of {N} pieces .* {N}$",
        lambda chosen, of, hidden, replaced, kept, loss, _size, blind: (
            chosen == round(0.15 * of) == hidden + replaced + kept and loss < blind
        ),
    ),
    (bert.facts, f"with {N}. “Paris” gets {N}, in place {N}", lambda best, paris, at: paris < best and at > 1),
    (
        bert.topics,
        f"gets {N}; the other way round {N}; .* second place {N}. Both orders get the same verdict",
        lambda one, other, stranger: min(one, other) > 0.5 > stranger,
    ),
    (
        bert.joint_loss,
        f"mean loss is {N}, the next sentence's {N}; together {N}",
        lambda words, pair, both: abs(words + pair - both) < 0.002 and min(words, pair) > 0,
    ),
    (
        finetuning.new_weights,
        f"the {N} classes .* has {N} × {N} weights and {N} biases: {N} new numbers beside {N} that",
        lambda n, m, width, b, new, total: n == m == b and new == n * width + n and new < total / 1000,
    ),
    (
        finetuning.first_vector,
        f"the cosine {N}, of two on music {N}; .* it is {N} and {N}",
        lambda unlike, alike, mean_unlike, mean_alike: unlike > 0.5 > mean_unlike and alike > unlike < mean_alike,
    ),
    (
        finetuning.majority_baseline,
        f"right on {N}% .*2 classes.* and on {N}% .*7 classes",
        lambda two, seven: 50 <= two < 55 and 100 / 7 <= seven < 20,
    ),
    (
        finetuning.nothing_found,
        f"{N}% of the words belong to no name: who finds none of the {N} names",
        lambda outside, names: outside > 90 and names > 0,
    ),
    (
        finetuning.frozen_weights,
        f"has {N} weights, {N} of them in its embeddings and {N} in each of its {N} layers. .*below them, {N} learn"
        f".*: {N}% with none of them frozen, {N}% with 4 of them frozen, {N}% with 6 .* counting words reaches {N}%",
        lambda total, below_, each, layers, learn, every, some, head, counted: (
            learn == total - below_ - 4 * each
            and 0 < learn - (layers - 4) * each < each
            and abs(every - some) < 3
            and head < counted < some
        ),
    ),
    (
        finetuning.dropout_spread,
        f"first, with {N}. With 10 % dropped, 8 passes give that piece {N} to {N} and put it first {N} times.* of {N}",
        lambda _undropped, least, most, first, alike: least < most and first <= 8 and alike < 0.99,
    ),
    (
        families.one_word,
        f"cosine is {N}, since.* last layer it is {N}. Two banks with money have {N} there",
        lambda enter, river, money: enter > 0.9 > money > river,
    ),
    (
        families.subword_pieces,
        f"WordPiece with {N} entries makes {N} pieces: .*; BPE with {N} entries makes {N} pieces",
        lambda large, few, small, many: large > small and few < many,
    ),
    (families.places, f"table of {N} places is the formula .* BERT's of {N} places is learned", lambda a, b: a < b),
    (
        families.shares,
        f"weights, {N}% are the vectors .* {N}% are in feed-forward parts and {N}% in attention",
        lambda words, forward, attending: words > forward > 1.5 * attending > 0,
    ),
    (
        families.future_attention,
        f"gives {N} of its attention to tokens after it.* it is {N}, and the largest of all such weights is {N}:",
        lambda reads, writes, most: reads > 0.1 and writes == most == 0,
    ),
    (
        translation.two_stacks,
        f"one: {N} layers of {N} heads in its encoder and {N} layers of {N} heads in its decoder, vectors of {N} ",
        lambda *sizes: sizes == (3, 8, 3, 8, 256),
    ),
    (
        translation.future_share,
        f"encoder gives {N} of .* decoder {N}, the largest such weight being {N}. The",
        lambda reads, writes, most: reads > 0.1 and writes == most == 0,
    ),
    (
        translation.aligned_words,
        rf"“chat” from “cat” \({N}\), “noir” from “black” \({N}\)",
        lambda cat, black: min(cat, black) > 0.5,
    ),
    (
        translation.teacher_forcing,
        f"reads all {N} tokens.*“chien” gets {N}, where it would write “chat”. .*“noir” after it gets {N}",
        lambda tokens, wrong, after: tokens == 8 and wrong < 0.01 < 0.1 < after,
    ),
    (
        translation.words_read_off,
        "give “I am like French”, as printed; .*alone “French French French French”",
        lambda: True,
    ),
    (translation.numpy_error, f"{N} stages", lambda stages: stages > 60),
]


def test_every_claim_is_here() -> None:
    claims = {station.shows for stations in themes.STATIONS.values() for station in stations if station.shows}
    assert claims == {claim for claim, _, _ in TOLD}
    assert all(bool(one.often) == bool(one.shows) for stations in themes.STATIONS.values() for one in stations)


@pytest.mark.slow
@loop_over(("claim", "pattern", "holds"), TOLD, ids=lambda it: getattr(it, "__name__", ""))
def test_the_numbers_mean_what_is_said(claim: Claim, pattern: str, holds: Callable[..., bool]) -> None:
    sentence = said(claim)
    assert holds(*numbers(pattern, sentence)), sentence


@pytest.mark.parametrize(
    "claim", [attention.order, attention.numpy_error, translation.numpy_error, translation.teacher_forcing]
)
def test_what_is_said_to_be_the_same_is(claim: Claim) -> None:
    assert below(1e-4)(said(claim)), said(claim)


@pytest.mark.slow
def test_both_losses_are_of_the_pair_as_it_was_spoilt() -> None:
    """Both losses, computed again from the masked text that the sentence quotes."""
    mine = ViewState(text="The lamp went out.", pair="We looked for a candle in the dark.")
    sentence = said(bert.joint_loss, mine)
    assert sentence.startswith("Your pair, with ")
    words, follows, _ = numbers(f"loss is {N}, the next sentence's {N}; together {N}", sentence)
    quoted = re.search("read as “(.*) — (.*)”, and", sentence)
    assert quoted
    text, pair = quoted[1], quoted[2]
    judged = get_backend().predict(NextSentence(model=BERT, text=text, pair=pair))
    assert judged.probability == pytest.approx(exp(-follows), abs=1e-3)
    stood = re.findall("“([^”]*)” [\\d.e-]+", sentence.split(" hidden:")[0])
    found = [
        get_backend().predict(MaskedWords(model=BERT, text=text, pair=pair, words=(piece,), blank=at, top=1))
        for at, piece in enumerate(stood)
    ]
    logs = [one.candidates[0].log_probability for one in found]
    assert -sum(one for one in logs if one is not None) / len(logs) == pytest.approx(words, abs=2e-3)
    assert said(bert.joint_loss, mine, TutorialsOptions(seed=2)) != sentence


@pytest.mark.slow
def test_without_dropout_a_pass_is_no_dice() -> None:
    assert "give the same number 8 times" in said(finetuning.dropout_spread, options=TutorialsOptions(dropped=0))
    assert "With 50 % dropped" in said(finetuning.dropout_spread, options=TutorialsOptions(dropped=99))


def test_later_tokens_of_the_decoder_are_masked_in_the_trace() -> None:
    trace = get_trace(families.CAT, TRANSLATOR)
    share, most = families.later_share(trace, "encoder")
    assert 0 < share < most <= 1
