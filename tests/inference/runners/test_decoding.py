"""Next-token requests: candidates, draws, attention rows, and refusals."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from attention import softmax
from attention.edits import Ablate, MaskEdge
from inference import LocalBackend
from inference.catalogue.listing import declared_heads
from inference.errors import UserError
from inference.files.embedded import TRANSLATOR
from inference.request import TraceRequest
from inference.settings import Settings
from inference.task_heads import CAUSAL, WRITES
from inference.tasks.decoding import DecodingStep, NextBeams, NextStep, NextTarget, NextToken
from tests.support.cases import loop_over
from tests.support.present import present
from tests.support.tinymodels import save
from tests.support.writers import save_padded, save_separate

pytestmark = pytest.mark.filterwarnings("ignore:Recommended. pip install sacremoses")
KINDS = {"gpt2": NextToken, "llama": NextToken, "t5": NextTarget, "marian": NextTarget}
TEXT = "The cat sat on"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("models")
    for kind in (*KINDS, "bert"):
        save(root / kind, kind)
    return root


@pytest.fixture(scope="module")
def backend(root: Path) -> LocalBackend:
    return LocalBackend(Settings(model_folders=(root,), offline=True))


def question(root: Path, kind: str, **more: Any) -> NextStep:
    return KINDS[kind](**{"model": str(root / kind), "text": TEXT, **more})


def steps(backend: LocalBackend, first: NextStep, many: int, pick: str = "greedy") -> list[DecodingStep]:
    """Return consecutive steps, each with the token that the previous step picked."""
    found: list[DecodingStep] = []
    for _ in range(many):
        found.append(backend.predict(first))
        first = replace(first, written=(*first.written, getattr(found[-1], pick).token))
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_the_steps_of_a_text_are_the_rows_of_its_trace(root: Path, backend: LocalBackend, kind: str) -> None:
    found = steps(backend, question(root, kind, seed=5), 7, "chosen")
    assert [step.cached for step in found] == [False, *[True] * 6]
    written = (*[step.chosen.token for step in found[:-1]],)
    trace = backend.trace(TraceRequest(model=str(root / kind), text=TEXT, written=written))
    row = trace.target or trace.source
    assert row == found[-1].row
    for step in found:
        at = len(step.row) - 1
        assert step.row.ids == row.ids[: at + 1]
        np.testing.assert_allclose(present(step.looks), trace.rows(at, "decoder")[..., : at + 1], atol=1e-5)
        assert not present(step.looks).flags.writeable
        if step.across is not None:
            np.testing.assert_allclose(step.across, trace.rows(at, "cross"), atol=1e-5)
            assert step.source == trace.source
    assert (found[0].across is None) == (trace.target is None) == (found[0].source is None)
    assert (trace.target_text or trace.text[len(TEXT) :]) == found[-1].text


@pytest.mark.parametrize("kind", KINDS)
def test_candidates_are_the_models_own_distribution(root: Path, backend: LocalBackend, kind: str) -> None:
    step = backend.predict(question(root, kind, top=9, temperature=60, top_k=40, top_p=80, seed=3))
    logits = logits_of(root, kind, step)
    own, drawn = softmax.shape(logits), softmax.shape(logits, 0.6, 40, 0.8)
    assert [candidate.token for candidate in step.candidates] == np.argsort(-own, kind="stable")[:9].tolist()
    for candidate in (*step.candidates, step.greedy, step.chosen):
        assert candidate.probability == pytest.approx(own[candidate.token], abs=1e-6)
    assert step.greedy.token == logits.argmax()
    assert step.vocabulary == logits.size
    assert step.entropy == pytest.approx(softmax.distribution_entropy(own), abs=1e-4)
    if kind != "marian":  # Marian bans a token, see below.
        assert step.possible == np.count_nonzero(drawn)
        assert step.entropy_drawn == pytest.approx(softmax.distribution_entropy(drawn), abs=1e-4)
        assert step.chosen.token == softmax.draw(drawn, 3, 0)
        for candidate in step.candidates:
            assert candidate.drawn == pytest.approx(drawn[candidate.token], abs=1e-5)


def logits_of(root: Path, kind: str, step: DecodingStep) -> np.ndarray:
    """Return the model's logits at the newest token from a plain pass."""
    import transformers

    auto = transformers.AutoModelForCausalLM if step.source is None else transformers.AutoModelForSeq2SeqLM
    model = auto.from_pretrained(root / kind).eval()
    given = {"input_ids": torch.tensor([step.row.ids])}
    if step.source is not None:
        given = {"input_ids": torch.tensor([step.source.ids]), "decoder_input_ids": given["input_ids"]}
    with torch.inference_mode():
        logits: np.ndarray = model(**given).logits[0, -1].numpy()
        return logits


def test_the_rule_changes_the_draw_and_costs_no_pass(root: Path, backend: LocalBackend) -> None:
    first = question(root, "gpt2", written=(40, 50))
    passes: list[object] = []
    hook = backend.loaded(first.model, None, CAUSAL).model.register_forward_pre_hook(
        lambda *given: passes.append(given)
    )
    plain, sharp, cold, one = (
        backend.predict(asked)
        for asked in (
            first,
            replace(first, temperature=30),
            replace(first, temperature=0),
            replace(first, top_k=1, seed=9),
        )
    )
    hook.remove()
    assert len(passes) == 1
    assert plain.entropy == sharp.entropy
    assert sharp.entropy_drawn < plain.entropy_drawn == pytest.approx(plain.entropy)
    assert cold.entropy_drawn == one.entropy_drawn == 0
    assert cold.possible == one.possible == 1
    assert cold.chosen == cold.greedy
    assert one.chosen.token == one.greedy.token
    assert plain.possible == plain.vocabulary
    many = {backend.predict(replace(first, seed=seed)).chosen.token for seed in range(12)}
    assert len(many) > 3


def test_tokens_that_are_asked_for_are_among_the_candidates(root: Path, backend: LocalBackend) -> None:
    step = backend.predict(question(root, "gpt2", top=2, also=(7, 9, 7, -1, 4000)))
    tokens = [candidate.token for candidate in step.candidates]
    assert tokens[2:] == [7, 9]
    assert len(tokens) == 4


@pytest.mark.parametrize("kind", KINDS)
def test_texts_of_candidates_add_up(root: Path, backend: LocalBackend, kind: str) -> None:
    found = steps(backend, question(root, kind, seed=2), 9, "chosen")
    assert "".join(step.chosen.text for step in found[:-1]) == found[-1].text


def test_pieces_show_where_a_word_begins(root: Path, backend: LocalBackend) -> None:
    for kind in KINDS:
        step = backend.predict(question(root, kind, top=200))
        begins = [candidate for candidate in step.candidates if candidate.piece.startswith("␣")]
        assert begins
        for candidate in begins:
            if candidate.piece.strip("␣"):
                assert candidate.text.strip() == candidate.piece.strip("␣")


def test_bytes_that_are_no_whole_character_are_shown_as_bytes(root: Path, backend: LocalBackend) -> None:
    loaded = backend.loaded(str(root / "gpt2"), None)
    first, *rest = loaded.reader.tokenizer("é")["input_ids"]
    assert rest
    step = backend.predict(question(root, "gpt2", also=(first,), top=1))
    half = step.candidates[-1]
    assert (half.piece, half.text) == ("<0xC3>", "")
    step = backend.predict(question(root, "gpt2", written=(first,), also=tuple(rest), top=1))
    assert step.candidates[-1].text == "é"
    assert step.text == ""


@pytest.mark.parametrize("kind", KINDS)
def test_an_end_token_ends_the_text(root: Path, backend: LocalBackend, kind: str) -> None:
    end = {"gpt2": 0, "llama": 2, "t5": 1, "marian": 0}[kind]
    step = backend.predict(question(root, kind, written=(40, end), also=(end,)))
    assert step.ended
    assert step.candidates[-1].ends or any(c.ends for c in step.candidates if c.token == end)
    assert not backend.predict(question(root, kind, written=(40,))).ended
    with pytest.raises(UserError, match="token 1, counted from 0; nothing"):
        backend.predict(question(root, kind, written=(40, end, 41)))


@pytest.mark.parametrize(("kind", "limit"), [("gpt2", 48), ("llama", 64), ("marian", 64)])
def test_room_counts_what_may_still_be_written(root: Path, backend: LocalBackend, kind: str, limit: int) -> None:
    step = backend.predict(question(root, kind))
    assert step.room == limit - len(step.row)
    full = backend.predict(question(root, kind, written=(40,) * step.room))
    assert full.room == 0
    assert len(full.row) == limit
    with pytest.raises(UserError, match=rf"\b{limit + 1} tokens; {kind} .* {limit}\b"):
        backend.predict(question(root, kind, written=(40,) * (step.room + 1)))


def test_a_prompt_as_long_as_the_model_reads_leaves_no_room(root: Path, backend: LocalBackend) -> None:
    step = backend.predict(question(root, "gpt2", text="The cat sat. " * 30, cut=48))
    assert (len(step.row), step.room) == (48, 0)
    assert step.candidates


@pytest.mark.slow
def test_a_translation_ends_where_the_model_says(tmp_path: Path) -> None:
    folder = save(tmp_path / "marian", "marian")
    file = folder / "generation_config.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "max_length": 9, "bad_words_ids": [[3]]}))
    backend = LocalBackend(Settings(model_folders=(tmp_path,), offline=True))
    asked = NextTarget(model=str(folder), text=TEXT, also=(3,))
    step = backend.predict(asked)
    banned = next(candidate for candidate in step.candidates if candidate.token == 3)
    assert banned.probability > 0 == banned.drawn
    assert step.room == 8
    last = steps(backend, asked, 8)[-1]
    assert (last.room, last.greedy.token, last.greedy.ends) == (1, 0, True)  # The end token is forced.


ODD = [{"eos_token_id": 2.5}, {"eos_token_id": [[1]]}, {"eos_token_id": ["a"]}, {"eos_token_id": "x"},
       {"max_length": "x"}, {"max_length": [3]}, {"max_length": -4}, {"max_new_tokens": 2.5},
       {"length_penalty": "x"}, {"length_penalty": 1e308}, {"decoder_start_token_id": [3, 4]}]  # fmt: skip


@pytest.mark.parametrize("kind", ["gpt2", "marian"])
@pytest.mark.parametrize("rules", ODD, ids=str)
def test_odd_rules_of_a_model_end_in_an_answer_or_a_sentence(
    tmp_path: Path, kind: str, rules: dict[str, object]
) -> None:
    folder = save(tmp_path / kind, kind)
    file = folder / "generation_config.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "max_length": 3, **rules}))
    backend = LocalBackend(Settings(model_folders=(tmp_path,), offline=True))
    with suppress(UserError):
        step = backend.predict(KINDS[kind](model=str(folder), text=TEXT))
        assert isinstance(step.room, int)
        assert step.room > 0
        if kind == "marian":
            asked = NextBeams(model=str(folder), text=TEXT)
            for _ in range(3):  # With this length limit the beams end in the second step.
                found = backend.predict(asked)
                asked = replace(asked, beams=found.beams, finished=found.finished)


@pytest.mark.parametrize("kind", KINDS)
def test_edits_hold_as_in_the_trace_with_the_same_edits(root: Path, backend: LocalBackend, kind: str) -> None:
    edits: tuple[Ablate | MaskEdge, ...] = (
        Ablate(0, 1, "decoder"),
        MaskEdge(1, 0, 5, 2, "decoder"),
        MaskEdge(1, 0, 90, 2, "decoder"),
    )
    edits += (Ablate(0, 0, "cross"), Ablate(1, 1, "encoder")) if kind in ("t5", "marian") else ()
    found = steps(backend, question(root, kind, edits=edits), 6)
    assert not any(step.cached for step in found)
    written = tuple(step.greedy.token for step in found)
    request = TraceRequest(model=str(root / kind), text=TEXT, written=written, edits=edits)
    trace = backend.trace(request)
    for step in found:
        at = len(step.row) - 1
        np.testing.assert_allclose(present(step.looks), trace.rows(at, "decoder")[..., : at + 1], atol=1e-5)
        if step.across is not None:
            np.testing.assert_allclose(step.across, trace.rows(at, "cross"), atol=1e-5)
    if trace.target is not None:  # Its own output under these edits is the same.
        own = backend.trace(replace(request, written=None))
        assert present(own.target).ids[1:6] == written[:5]


def test_an_edit_of_a_head_that_is_not_there_is_refused(root: Path, backend: LocalBackend) -> None:
    with pytest.raises(UserError, match="2 layers of 3 heads"):
        backend.predict(question(root, "gpt2", edits=(Ablate(0, 3),)))
    with pytest.raises(UserError, match="no token"):
        backend.predict(question(root, "t5", edits=(MaskEdge(0, 0, 90, 1, "encoder"),)))


# -- Models with different vocabularies in tokenizer and weights


@pytest.mark.slow
def test_tokens_without_a_piece_are_shown_by_their_numbers(tmp_path: Path) -> None:
    backend = LocalBackend(Settings(model_folders=(tmp_path,), offline=True))
    asked = NextTarget(model=str(save_padded(tmp_path / "padded")), text=TEXT, top=200)
    step = steps(backend, asked, 3)[-1]
    assert step.row.ids[1:] == (94, 94)
    assert step.row.pieces[1:] == ("[94]", "[94]")
    assert (step.greedy.piece, step.greedy.text, step.text) == ("[94]", "", "")
    assert backend.trace(TraceRequest(model=asked.model, text=TEXT, written=(94, 94))).target == step.row
    beams = backend.predict(NextBeams(model=asked.model, text=TEXT, width=2))
    assert (beams.branches[0].piece, beams.beams[0].text) == ("[94]", "")


@pytest.mark.slow
def test_a_vocabulary_of_its_own_for_what_is_written(tmp_path: Path) -> None:
    backend = LocalBackend(Settings(model_folders=(tmp_path,), offline=True))
    asked = NextTarget(model=str(save_separate(tmp_path / "separate")), text=TEXT)
    found = steps(backend, asked, 3)
    assert found[-1].text == "new29 new29"
    trace = backend.trace(TraceRequest(model=asked.model, text=TEXT, written=found[-1].row.ids[1:]))
    assert trace.target == found[-1].row
    assert trace.target.pieces[1:] == ("new29", "new29")
    plain = LocalBackend(Settings(model_folders=(save(tmp_path / "marian", "marian"),), offline=True))
    assert trace.source == plain.trace(TraceRequest(model=str(tmp_path / "marian"), text=TEXT)).source
    rows = found[0].vocabulary
    with pytest.raises(UserError, match=f"no token {rows}; tokens are 0 to {rows - 1}"):
        backend.predict(replace(asked, written=(rows,)))
    typed = backend.trace(TraceRequest(model=asked.model, text=TEXT, target="new7"))
    assert max(present(typed.target).ids) < rows


# -- Models and heads


def test_a_translation_uses_the_very_model_that_is_traced(root: Path) -> None:
    backend = LocalBackend(Settings(model_folders=(root,), offline=True))
    backend.predict(question(root, "marian"))
    assert len(backend.kept_models) == 1
    backend.trace(TraceRequest(model=str(root / "marian"), text=TEXT))
    assert len(backend.kept_models) == 1


@pytest.mark.parametrize(
    ("kind", "asked", "sentence"),
    [("gpt2", NextTarget, r"gpt2 has no head that translates\. Installed: .*marian or t5"),
     ("bert", NextTarget, "bert has no head that translates"),
     ("bert", NextToken, r"bert has no next-word head\. Installed: .*gpt2"),
     ("marian", NextToken, r"marian has no next-word head\.")],
)  # fmt: skip
def test_a_model_of_the_wrong_kind_names_what_would_do(
    root: Path, backend: LocalBackend, kind: str, asked: type[NextStep], sentence: str
) -> None:
    with pytest.raises(UserError, match=sentence) as caught:
        backend.predict(asked(model=str(root / kind), text=TEXT))
    assert caught.value.way_out == "head"


def test_lists_of_models_name_what_writes() -> None:
    assert declared_heads(["model.shared.weight"], "encoder-decoder") == (WRITES,)


@loop_over(
    ("odd", "sentence"),
    [({"text": " "}, "The text is empty"), ({"written": (350,)}, "There is no token 350; tokens are 0 to 349"),
     ({"written": (-1,)}, "no token −1"), ({"text": "a " * 100}, "gpt2 reads at most 48"),
     ({"temperature": -1}, "none may be below 0"), ({"top_p": 101}, "top-p not above 1"),
     ({"seed": -1}, "seed -1 came"), ({"top_k": -2}, "top-k -2")],
)  # fmt: skip
def test_bad_input_is_refused_in_a_sentence(
    root: Path, backend: LocalBackend, odd: dict[str, object], sentence: str
) -> None:
    with pytest.raises(UserError, match=sentence):
        backend.predict(question(root, "gpt2", **odd))


def test_a_long_text_may_be_cut(root: Path, backend: LocalBackend) -> None:
    step = backend.predict(question(root, "gpt2", text="The cat sat. " * 30, cut=6, written=(40, 50)))
    assert len(step.row) == 8
    assert step.row.ids[6:] == (40, 50)
    trace = backend.trace(TraceRequest(model=str(root / "gpt2"), text="The cat sat. " * 30, cut=6, written=(40, 50)))
    assert trace.source == step.row
    assert trace.text.endswith(step.text)
    assert len(trace.text) < 40


@pytest.mark.slow
def test_a_token_that_is_asked_for_has_its_own_rank() -> None:
    own = LocalBackend()
    every = own.predict(NextTarget(TRANSLATOR, text="The cat sleeps.", top=200)).candidates
    assert [found.rank for found in every] == list(range(1, 201))
    few = own.predict(NextTarget(TRANSLATOR, text="The cat sleeps.", top=3, also=(every[80].token,))).candidates
    assert [found.rank for found in few] == [1, 2, 3, 81]
    assert few[3].probability == every[80].probability
