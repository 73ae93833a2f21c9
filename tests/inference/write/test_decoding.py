"""Decoding token by token: the tokens of transformers, and the attention of a single whole pass."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest
import torch
from transformers.cache_utils import DynamicCache
from transformers.generation.logits_process import SequenceBiasLogitsProcessor

from attention.edits import Ablate, MaskEdge, MaskKey, Uniform, ZeroValue
from inference.errors import UserError
from inference.record import capture
from inference.record.edit_hooks import apply_edits
from inference.write import decoding
from inference.write.decoding import Writing, generate_greedy, memory_of, read
from tests.support.architectures import BERT, SEQ2SEQ, Architecture, named
from tests.support.cases import loop_over
from tests.support.present import present
from tests.support.writers import DECODERS, TRANSLATORS, WRITERS, build, generated, source, whole

NAMES = [row.name for row in WRITERS]
CACHELESS = Architecture("GPT", "openai-gpt", "decoder", named("GPT-2").config)
AHEAD = Architecture("FSMT", "fsmt", "encoder-decoder",
                     {**SEQ2SEQ, "src_vocab_size": 40, "tgt_vocab_size": 40, "langs": ["en", "fr"]})  # fmt: skip
BOTH = ["GPT-2", "gpt-oss", "Mistral", "Gemma 2", "Marian", "T5", "mBART"]  # These cover all kinds of attention.


def before(model: Any, tokens: Any) -> Any:
    """Return the number of decoder tokens before the generated tokens."""
    return 1 if model.config.is_encoder_decoder else len(tokens)


def rows_of(model: Any, tokens: Any, written: Any) -> Any:
    """Return each token's attention in a single pass, (token, layer, head, key) by part."""
    [parts] = capture.record_parts(model, whole(model, tokens, written))
    return {
        part: np.stack([[record.weights(head) for head in range(record.heads)] for record in records]).transpose(
            2, 0, 1, 3
        )
        for part, records in parts.items()
    }


def check_steps(model: Any, tokens: Any, written: Any, longest: int = 30) -> Any:
    """Assert that each step's attention equals that of a single pass; return the cached flags of the steps."""
    everything, first = rows_of(model, tokens, written), before(model, tokens) - 1
    used = []
    for done in range(len(written) + 1):
        passed = read(model, Writing(tokens, longest), [written[:done]])
        used.append(passed.cached)
        at = first + done
        np.testing.assert_allclose(present(passed.looks)[0], everything["decoder"][at][..., : at + 1], atol=1e-5)
        if "cross" in everything:
            np.testing.assert_allclose(present(passed.across)[0], everything["cross"][at], atol=1e-5)
        else:
            assert passed.across is None
    return used


@pytest.mark.slow
@loop_over("row", [*WRITERS, CACHELESS, AHEAD], ids=lambda row: row.name)
@loop_over("length", [3, 8])
def test_steps_with_the_cache_look_where_one_pass_over_everything_looks(row: Any, length: int) -> None:
    model, tokens = build(row), source(length)
    written = (9, 31, 4, 9, 17, 25)
    used = check_steps(model, tokens, written)
    assert used == [False, *[row is not CACHELESS] * len(written)]


@loop_over("row", WRITERS, ids=NAMES)
def test_what_looks_back_only_gives_nothing_to_later_tokens(row: Any) -> None:
    model, tokens = build(row), source()
    found = rows_of(model, tokens, (9, 31, 4, 9))
    assert not np.triu(found["decoder"].transpose(1, 2, 0, 3), 1).any()
    for part in found.keys() - {"decoder"}:
        np.testing.assert_allclose(found[part].sum(-1), 1, atol=1e-5)


@pytest.mark.slow
@loop_over("row", [*WRITERS, CACHELESS, AHEAD], ids=lambda row: row.name)
def test_greedy_is_what_generate_writes(row: Any) -> None:
    model, tokens = build(row), source()
    start, longest = before(model, tokens), before(model, tokens) + 9
    found = generate_greedy(model, Writing(tokens, longest))
    assert list(found) == generated(model, tokens, max_length=longest)[start:]
    if len(found) > 2:  # The same holds if the third generated token is an end token.
        model = build(row, eos_token_id=[3, found[2]])
        ended = generate_greedy(model, Writing(tokens, longest))
        assert ended == found[: 1 + min(at for at, token in enumerate(found) if token in (3, found[2]))]
        assert list(ended) == generated(model, tokens, max_length=longest)[start:]


RULES = [
    {"forced_bos_token_id": 7}, {"forced_eos_token_id": 5}, {"no_repeat_ngram_size": 2}, {"repetition_penalty": 1.7},
    {"min_length": 9, "eos_token_id": [16, 30]}, {"bad_words_ids": [[16], [32, 30]]}, {"suppress_tokens": [16, 32]},
    {"begin_suppress_tokens": [16, 32]}, {"encoder_no_repeat_ngram_size": 1}, {"sequence_bias": [[[16], -40.0]]},
    {"exponential_decay_length_penalty": (3, 1.5)},
]  # fmt: skip


@pytest.mark.slow
@loop_over("rule", RULES, ids=lambda rule: next(iter(rule)))
def test_the_models_own_rules_hold(rule: Any) -> None:
    changed = []
    for name in ("Llama", "BART"):
        plain, model, tokens = (
            build(named(name), eos_token_id=rule.get("eos_token_id", 2)),
            build(named(name), **rule),
            source(),
        )
        longest = before(model, tokens) + 9
        found = generate_greedy(model, Writing(tokens, longest))
        assert list(found) == generated(model, tokens, max_length=longest)[before(model, tokens) :]
        changed.append(found != generate_greedy(plain, Writing(tokens, longest)))
    assert any(changed)


@pytest.mark.parametrize("name", ["BLOOM", "GPT-2", "LED", "BART"])
def test_what_a_model_reports_by_its_settings_changes_nothing(name: str) -> None:
    model, plain, tokens = (
        build(named(name), output_attentions=True, output_hidden_states=True),
        build(named(name)),
        source(),
    )
    longest = before(model, tokens) + 6
    assert (
        list(generate_greedy(model, Writing(tokens, longest)))
        == generated(plain, tokens, max_length=longest)[before(model, tokens) :]
    )


def test_rules_are_ready_before_they_are_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    banned = list(range(4, 30))
    model = build(named("BART"), bad_words_ids=[[token] for token in banned], sequence_bias=[[[31], -2.0]])
    passed = read(model, Writing(source(), 30), [()])
    monkeypatch.setattr(SequenceBiasLogitsProcessor, "_prepare_bias_variables", lambda *_: pytest.fail("only now"))
    assert passed.apply_rules(passed.logits)[0, banned].isneginf().all()


@pytest.mark.parametrize(
    "rule",
    [{"guidance_scale": 1.5}, {"guidance_scale": 0}, {"watermarking_config": {"bias": 2.5}}],
    ids=["guidance", "no condition", "watermark"],
)
def test_rules_that_remember_are_refused(rule: Any, logged: list[str]) -> None:
    model, [name] = build(named("GPT-2"), **rule), rule
    with pytest.raises(UserError, match=f"GPT2LMHeadModel sets {name}"):
        read(model, Writing(source(), 30), [()])
    assert not logged


def test_a_guidance_that_does_nothing_is_none() -> None:
    assert read(build(named("GPT-2"), guidance_scale=1), Writing(source(), 30), [()]).logits.isfinite().all()


ROBERTA = {**BERT, "max_position_embeddings": 64, "pad_token_id": 1, "is_decoder": True}
COUNT_FROM_PADDING = [
    Architecture(name, name, "decoder", ROBERTA)
    for name in ("roberta", "xlm-roberta", "camembert", "data2vec-text", "roberta-prelayernorm", "xlm-roberta-xl")
]


@loop_over("row", COUNT_FROM_PADDING, ids=lambda row: row.name)
def test_models_that_generate_places_otherwise_than_they_do_themselves_are_refused(row: Any) -> None:
    with pytest.raises(UserError, match="padding token"):
        read(build(row), Writing(source(), 30), [()])


# -- The key-value cache


def test_going_another_way_reads_everything_anew() -> None:
    model, tokens = build(named("Llama")), source()
    writing = Writing(tokens, 30)
    for written in ((), (5,), (5, 6)):
        read(model, writing, [written])
    passed = read(model, writing, [(5, 7)])
    assert not passed.cached
    torch.testing.assert_close(passed.logits, fresh("Llama", writing, (5, 7)), atol=1e-5, rtol=0)


def fresh(name: str, writing: Any, written: Any) -> Any:
    return read(build(named(name)), writing, [written]).logits


@pytest.mark.slow
@loop_over("name", BOTH)
def test_several_ways_go_on_from_the_rows_of_one_cache(name: Any) -> None:
    model, writing = build(named(name)), Writing(source(), 30)
    first = read(model, writing, [()])
    for rows in ([(5,), (6,), (7,)], [(6, 8), (5, 9), (6, 4)], [(6, 4, 1)]):
        passed = read(model, writing, rows)
        assert passed.cached
        for at, row in enumerate(rows):
            torch.testing.assert_close(passed.logits[at], fresh(name, writing, row)[0], atol=1e-5, rtol=0)
    assert first.logits.shape == passed.logits.shape


def test_asking_the_same_again_computes_nothing() -> None:
    model, writing = build(named("GPT-2")), Writing(source(), 30)
    assert read(model, writing, [(5,)]) is read(model, writing, [(5,)])


def test_states_go_with_their_model() -> None:
    one, other = build(named("GPT-2")), build(named("GPT-2"))
    read(one, Writing(source(), 30), [()])
    assert one.__dict__[decoding.KEPT].nbytes > 0
    assert not read(other, Writing(source(), 30), [(5,)]).cached


@pytest.mark.parametrize("name", ["Mistral", "Gemma 2", "T5"])
def test_kept_states_count_all_that_they_keep_alive(name: str) -> None:
    model, writing = build(named(name)), Writing(source(20), 40)
    passed = read(model, writing, [()])
    kept = model.__dict__[decoding.KEPT]
    state = kept.take(writing, [()])
    layers = getattr(state.cache, "self_attention_cache", state.cache).layers
    alive = sum(tensor.untyped_storage().nbytes() for layer in layers for tensor in (layer.keys, layer.values))
    assert state.nbytes >= alive + passed.logits.nbytes + present(passed.looks).nbytes
    assert state.nbytes == memory_of(vars(passed), passed.start.given, state.cache)


def test_a_model_that_fails_with_its_cache_reads_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    model, writing = build(named("Llama")), Writing(source(), 30)
    expected = fresh("Llama", writing, (5, 6))
    read(model, writing, [(5,)])

    def broken(*_given: Any, **_named: Any) -> None:
        raise RuntimeError("no such cache")

    monkeypatch.setattr(DynamicCache, "update", broken)
    passed = read(model, writing, [(5, 6)])
    assert not passed.cached
    torch.testing.assert_close(passed.logits, expected, atol=1e-5, rtol=0)
    assert not read(model, writing, [(5, 6, 7)]).cached


def test_what_fails_either_way_says_nothing_about_the_cache() -> None:
    model, writing = build(named("GPT-2")), Writing(source(), 30)
    with pytest.raises(IndexError):
        read(model, writing, [(4000,)])
    read(model, writing, [()])
    assert read(model, writing, [(5,)]).cached


@pytest.mark.slow
def test_threads_that_write_the_same_text_do_not_mix() -> None:
    model, writing = build(named("Llama")), Writing(source(), 30)
    ways = [tuple((3 * at + way) % 30 + 4 for at in range(6)) for way in range(3)] * 2
    expected = {way: [fresh("Llama", writing, way[:done]) for done in range(7)] for way in set(ways)}
    gate, wrong = threading.Barrier(len(ways)), []

    def work(way: Any) -> None:
        gate.wait()
        for done in range(7):
            if (read(model, writing, [way[:done]]).logits - expected[way][done]).abs().max() > 1e-5:
                wrong.append((way, done))

    threads = [threading.Thread(target=work, args=[way]) for way in ways]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


# -- Edits


def edits_of(model: Any) -> Any:
    two = model.config.is_encoder_decoder
    found = [
        Ablate(0, 1, "decoder"),
        Uniform(1, 0, "decoder"),
        MaskKey(0, 1, "decoder"),
        MaskEdge(1, 2, 2, 1, "decoder"),
        ZeroValue(1, 0, "decoder"),
        MaskKey(1, 9, "decoder"),
        MaskEdge(0, 0, 11, 2, "decoder"),
    ]
    return (
        (*found, MaskEdge(1, 1, 3, 2, "cross"), Ablate(0, 0, "cross"), Ablate(1, 1, "encoder")) if two else tuple(found)
    )


def by_hand(model: Any, tokens: Any, longest: Any, edits: Any) -> Any:
    """Decode greedily with a full edited pass per step; edits apply from the step that has their positions."""
    written: tuple[int, ...] = ()
    while before(model, tokens) + len(written) < longest:
        there = before(model, tokens) + len(written)
        fitting = [edit for edit in edits if max(getattr(edit, "query", 0), getattr(edit, "key", 0)) < there
                   or (edit.part != "decoder" and getattr(edit, "query", 0) < there)]  # fmt: skip
        with apply_edits(model, [fitting]), torch.inference_mode():
            logits = model(**whole(model, tokens, written)).logits[0, -1]
        written = (*written, int(logits.argmax()))
        if written[-1] == 2:
            break
    return written


@loop_over("name", BOTH)
def test_writing_under_edits_takes_the_likeliest_of_each_edited_pass(name: Any) -> None:
    model, tokens = build(named(name), forced_eos_token_id=None), source()
    edits, longest = edits_of(model), before(model, tokens) + 8
    found = generate_greedy(model, Writing(tokens, longest, edits))
    assert found == by_hand(model, tokens, longest, edits)


@pytest.mark.slow
def test_edits_change_what_is_written() -> None:
    changed = 0
    for name in BOTH:
        model, tokens = build(named(name)), source()
        longest = before(model, tokens) + 8
        changed += generate_greedy(model, Writing(tokens, longest, edits_of(model))) != generate_greedy(
            model, Writing(tokens, longest)
        )
    assert changed >= 3


@loop_over("name", BOTH)
def test_the_looks_of_edited_steps_are_those_of_one_edited_pass(name: Any) -> None:
    model, tokens, written = build(named(name)), source(), (9, 31, 4, 9, 17)
    edits = edits_of(model)
    [parts] = capture.record_parts(model, whole(model, tokens, written), edits=[edits])
    for done in range(len(written) + 1):
        passed = read(model, Writing(tokens, 30, edits), [written[:done]])
        assert not passed.cached
        at = before(model, tokens) - 1 + done
        for part, looks in (("decoder", passed.looks), ("cross", passed.across)):
            for layer, record in enumerate(parts.get(part, ())):
                for head in range(record.heads):
                    row = record.weights(head)[at]
                    assert looks is not None
                    np.testing.assert_allclose(looks[0, layer, head], row[: looks.shape[-1]], atol=1e-5)


@pytest.mark.parametrize(("name", "ending"), [("Llama", "o_proj"), ("T5", "EncDecAttention.o")])
def test_ablating_a_head_that_says_nothing_changes_nothing(name: str, ending: str) -> None:
    model, tokens = build(named(name)), source()
    part = "cross" if model.config.is_encoder_decoder else "decoder"
    weights = [module for path, module in model.named_modules() if path.endswith(ending)]
    width = weights[1].weight.shape[1] // (3 if name == "T5" else 4)
    with torch.no_grad():
        weights[1].weight[:, width : 2 * width] = 0
    for done in range(4):
        written = (9, 31, 4)[:done]
        plain = read(model, Writing(tokens, 30), [written])
        silent, other = (read(model, Writing(tokens, 30, (Ablate(1, head, part),)), [written]) for head in (1, 2))
        torch.testing.assert_close(silent.logits, plain.logits, atol=1e-5, rtol=0)
        assert (other.logits - plain.logits).abs().max() > 1e-4


def test_several_rows_share_the_edits() -> None:
    model, writing = (
        build(named("Marian")),
        Writing(source(), 30, (Ablate(0, 1, "cross"), MaskEdge(1, 0, 1, 2, "cross"))),
    )
    rows = [(5, 8), (6, 9), (7, 4)]
    together = read(model, writing, rows)
    for at, row in enumerate(rows):
        alone = read(build(named("Marian")), writing, [row])
        torch.testing.assert_close(together.logits[at], alone.logits[0], atol=1e-5, rtol=0)
        torch.testing.assert_close(present(together.across)[at], present(alone.across)[0], atol=1e-5, rtol=0)


def test_every_family_is_here() -> None:
    assert len(DECODERS) >= 16
    assert len(TRANSLATORS) >= 10
