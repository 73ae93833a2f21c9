"""Scores of induction heads: laws, cases by hand, and all supported decoders against their own eager maps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import AutoModelForCausalLM

from attention import roles
from attention.mask import FloatArray
from inference import LocalBackend
from inference.errors import UserError
from inference.runners import heads as answers
from inference.settings import Settings
from inference.task_heads import CAUSAL, WHAT
from inference.tasks.heads import InductionHeads
from tests.support.cases import loop_over
from tests.support.decoders import DECODERS, VOCABULARY, save_decoder
from tests.support.tinymodels import save

START, LENGTH, COPIES = 1, 3, 3
TOKENS = START + LENGTH * COPIES


def causal(shape: tuple[int, ...] = (2, 4), tokens: int = TOKENS) -> FloatArray:
    """Return random causal maps, shape (..., query, key)."""
    weights = np.tril(np.random.default_rng(0).random((*shape, tokens, tokens)))
    shares: FloatArray = (weights / weights.sum(-1, keepdims=True)).astype(np.float32)
    return shares


def test_an_induction_head_scores_one() -> None:
    maps = np.zeros((TOKENS, TOKENS), np.float32)
    for query in range(START + LENGTH, TOKENS):
        maps[query, query - LENGTH + 1] = 1
    assert roles.prefix_matching_score(maps, START, LENGTH) == 1


def test_looks_back_by_several_copies_count_together() -> None:
    maps = np.zeros((TOKENS, TOKENS), np.float32)
    first = START + 2 * LENGTH  # The first token of the third copy.
    maps[first, [START + 1, START + LENGTH + 1, first]] = [0.25, 0.5, 0.25]
    assert roles.prefix_matching_score(maps, START, LENGTH) == pytest.approx(0.75 / 6)


@pytest.mark.parametrize("head", ["to itself", "to its earlier self", "before", "first"])
def test_other_heads_score_nothing(head: str) -> None:
    queries = np.arange(TOKENS)
    keys = {
        "to itself": queries,
        "to its earlier self": np.where(queries < START + LENGTH, queries, queries - LENGTH),
        "before": np.maximum(queries - 1, 0),
        "first": 0 * queries,
    }
    maps = np.zeros((TOKENS, TOKENS), np.float32)
    maps[queries, keys[head]] = 1
    assert roles.prefix_matching_score(maps, START, LENGTH) == 0
    assert roles.previous(maps) == (head == "before")
    assert roles.first(maps) == (head == "first")


def test_equals_the_definition_written_out() -> None:
    maps, text = causal(), [0, *[1, 2, 3] * COPIES]
    later = range(START + LENGTH, TOKENS)
    sums = sum(maps[..., q, k + 1] for q in later for k in range(q - 1) if k >= START and text[k] == text[q])
    np.testing.assert_allclose(roles.prefix_matching_score(maps, START, LENGTH), sums / len(later), rtol=1e-6)
    assert roles.prefix_matching_score(maps, START, LENGTH).shape == (2, 4)
    rows = range(2, TOKENS)
    np.testing.assert_allclose(roles.previous(maps), np.mean([maps[..., q, q - 1] for q in rows], 0), rtol=1e-6)
    np.testing.assert_allclose(roles.first(maps), np.mean([maps[..., q, 0] for q in rows], 0), rtol=1e-6)


def test_what_goes_to_the_first_token_is_no_match() -> None:
    maps = causal()
    total = roles.prefix_matching_score(maps, START, LENGTH) + roles.first(maps)
    assert (total <= 1 + 1e-6).all()


def test_evenly_spread_attention_scores_as_said() -> None:
    maps = np.tril(np.ones((TOKENS, TOKENS))) / np.arange(1, TOKENS + 1)[:, None]
    score = roles.prefix_matching_score(maps.astype(np.float32), START, LENGTH)
    assert score == pytest.approx(roles.uniform_matching_score(TOKENS, START, LENGTH), rel=1e-6)


@pytest.mark.parametrize(("start", "length"), [(0, 10), (0, 1), (8, 2)])
def test_nothing_is_repeated(start: int, length: int) -> None:
    with pytest.raises(ValueError, match=f"10 tokens, {start} in front, repeat no sequence of {length}"):
        roles.prefix_matching_score(causal(), start, length)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("induction")


@pytest.fixture(scope="module")
def backend(root: Path) -> LocalBackend:
    return LocalBackend(Settings(model_folders=(root,), offline=True, cache=root / "cache"))


@pytest.mark.slow
@loop_over("name", DECODERS)
def test_equals_the_models_own_maps_and_losses(backend: LocalBackend, root: Path, name: str) -> None:
    folder = save_decoder(root / name, name)
    asked = InductionHeads(model=str(folder), length=5, repeats=3, count=2, seed=4)
    found = backend.predict(asked)
    loaded = backend.loaded(asked.model, None, asked.HEAD)
    ids, others = (torch.from_numpy(made) for made in answers.texts(answers.ordinary_tokens(loaded), asked, ()))
    network = AutoModelForCausalLM.from_pretrained(folder, attn_implementation="eager").eval()
    with torch.inference_mode():
        output = network(input_ids=ids, output_attentions=True)
        maps = [layer.float().numpy() for layer in output.attentions]
        control = [layer.float().numpy() for layer in network(input_ids=others, output_attentions=True).attentions]
        losses = -output.logits[:, :-1].log_softmax(-1).gather(-1, ids[:, 1:, None])[..., 0].mean(0)
    for array, score, which in (
        (found.matching, lambda one: roles.prefix_matching_score(one, 0, 5), maps),
        (found.control, lambda one: roles.prefix_matching_score(one, 0, 5), control),
        (found.previous, roles.previous, maps),
        (found.first, roles.first, maps),
    ):
        np.testing.assert_allclose(array, [score(layer).mean(0) for layer in which], atol=1e-5)
        assert array.dtype == np.float32
        assert not array.flags.writeable
    each = [losses[at : at + 4].mean() for at in (0, 5, 10)]  # losses[4] belongs to the second copy's first token.
    np.testing.assert_allclose(found.losses, each, rtol=1e-4)
    assert found.row.ids == tuple(ids[0].tolist())
    assert (found.start, found.even) == (0, roles.uniform_matching_score(15, 0, 5))


@pytest.mark.parametrize("start", [0, 1])
def test_a_model_that_copies_is_surprised_by_no_token_of_later_copies(start: int) -> None:
    """The logits predict the token that followed an earlier copy, and are uniform otherwise."""
    ids = np.array([[9] * start + [1, 2, 3, 4] * 3])
    logits = torch.zeros(1, ids.shape[1], 10)
    text = ids[0].tolist()
    for at, token in enumerate(text):
        if token in text[:at]:
            logits[0, at, text[text.index(token) + 1]] = 50
    found = answers._losses(logits, ids, start, 4)  # noqa: SLF001  # by hand, without a model
    np.testing.assert_allclose(found, [np.log(10), 0, 0], rtol=1e-6, atol=1e-6)


def test_the_texts_are_what_the_question_says(backend: LocalBackend, root: Path) -> None:
    asked = InductionHeads(model=str(save_decoder(root / "GPT-2", "GPT-2")), length=7, repeats=3, count=4, seed=1)
    tokens = answers.ordinary_tokens(backend.loaded(asked.model, None, asked.HEAD))
    assert tokens.tolist() == list(range(1, VOCABULARY)), "all but the special token"
    copies, others = answers.texts(tokens, asked, (9, 8))
    assert copies.shape == others.shape == (4, 2 + 21)
    for text, other in zip(copies.tolist(), others.tolist(), strict=True):
        assert text[:2] == other[:2] == [9, 8]
        assert text[2:] == text[2:9] * 3
        assert len(set(text[2:])) == 7
        assert len(set(other[2:])) == 21
    assert len({tuple(text) for text in copies.tolist()}) == 4
    np.testing.assert_array_equal(answers.texts(tokens, asked, (9, 8))[0], copies)


def test_a_start_token_stands_in_front(backend: LocalBackend, root: Path) -> None:
    from transformers import AutoTokenizer

    folder = save_decoder(root / "OPT-with-start", "OPT")
    tokenizer = AutoTokenizer.from_pretrained(folder)
    tokenizer.backend_tokenizer.post_processor = front()
    tokenizer.save_pretrained(folder)
    found = backend.predict(InductionHeads(model=str(folder), length=6))
    assert found.start == 1
    assert found.row.ids[:2] != found.row.ids[1:3]
    assert found.row.ids[0] == 0
    assert found.row.words[0] is None
    assert found.row.ids[1:7] == found.row.ids[7:]


def front() -> object:
    """Return a post-processor that puts <|endoftext|> before every text."""
    from tokenizers.processors import TemplateProcessing

    return TemplateProcessing(single="<|endoftext|> $A", special_tokens=[("<|endoftext|>", 0)])


def test_other_seeds_ask_about_other_texts(backend: LocalBackend, root: Path) -> None:
    model = str(save_decoder(root / "Llama", "Llama"))
    one, again, other = (backend.predict(InductionHeads(model=model, length=6, seed=s)) for s in (0, 0, 1))
    assert one is again
    assert (one.matching != other.matching).any()
    assert one.row.ids != other.row.ids


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ({"length": 1}, "two tokens or more"),
        ({"repeats": 1}, "two copies or more"),
        ({"count": 0}, "one text or more"),
        ({"length": 33}, r"2 copies of 33 tokens are 66; .* reads at most 64 here\. Use at most 32"),
        ({"length": 32, "count": 100}, "reads at most 40 here"),
    ],
)
def test_what_cannot_be_asked_is_refused(
    backend: LocalBackend, root: Path, more: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(UserError, match=sentence):
        backend.predict(InductionHeads(model=str(save_decoder(root / "GPT-2", "GPT-2")), **more))


def test_a_small_vocabulary_is_refused(backend: LocalBackend, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers, "ordinary_tokens", lambda _loaded: np.arange(9))
    with pytest.raises(UserError, match=r"of 10 .* knows 9"):
        backend.predict(InductionHeads(model=str(save_decoder(root / "GPT-2", "GPT-2")), length=5, seed=99))


def test_an_encoder_is_refused(backend: LocalBackend, root: Path) -> None:
    save(root / "bert", "bert")
    with pytest.raises(UserError, match=f"bert has {WHAT[CAUSAL]}"):
        backend.predict(InductionHeads(model=str(root / "bert")))
