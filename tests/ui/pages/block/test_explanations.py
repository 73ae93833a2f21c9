"""Explanations of all parts in the drawing, with the numbers of the model."""

from __future__ import annotations

import re
import unicodedata

import pytest

from i18n import use_language
from inference import LocalBackend
from inference.tasks.anatomy import Anatomy
from tests.support.anatomies import NAMES, built, lengths
from tests.support.cases import loop_over
from ui.pages.block.cost import expected_seconds, map_bytes, sizes_of
from ui.pages.block.cost import lengths as measured_lengths
from ui.pages.block.explanations import explain_parts
from ui.pages.block.page import sentence, sizes
from ui.pages.block.plan import FOLDS, SHORT, BlockOptions, activation, head_title, towers
from ui.state.params import parse_params
from viz.components.block.block import LETTER, STRONG, draw, payload

PAPER = re.compile(r"https://arxiv\.org/abs/\d{4}\.\d{4,5}")


@pytest.mark.slow
@loop_over("name", NAMES)
def test_everything_that_is_drawn_is_explained(name: str) -> None:
    build = built(name)
    said = explain_parts(build, lengths(build))
    drawn = draw(towers(build, lengths(build)), True)
    for shape in drawn.shapes:
        if shape["kind"] in ("box", "add"):
            one = said[shape["id"]]
            assert one.title
            assert one.text.endswith(".")
            assert "None" not in one.text
            assert all(PAPER.fullmatch(paper.url) and paper.url.endswith(paper.text[6:].split(",")[0])
                       for paper in one.papers)  # fmt: skip
    assert next(iter(said.values())).title.endswith("elf-attention"), "what is explained first"


@pytest.mark.slow
@loop_over("name", NAMES)
def test_the_sentence_says_what_the_numbers_say(name: str) -> None:
    build = built(name)
    said = sentence(build)
    assert said.endswith(f"; {build.total:,} parameters.")
    assert ("post-norm" in said) == any(stack.flow.placement == "post" for stack in build.stacks)
    assert "encoder" in said or "decoder" in said


def text_of(name: str, part: str) -> str:
    build = built(name)
    return explain_parts(build, lengths(build))[part].text


def test_an_encoder_and_a_decoder_are_told_apart() -> None:
    assert "compared with keys" in text_of("BERT", "encoder.0")
    assert "no later ones" in text_of("GPT-2", "decoder.1")
    assert "Queries: the decoder's 5 tokens" in text_of("BART", "decoder.3")


def test_bert_s_activation_is_not_relu() -> None:
    assert "(GELU)" in text_of("BERT", "encoder.3")
    assert "(ReLU)" in text_of("T5", "encoder.4")
    assert "gated" in text_of("Llama", "decoder.4")


def test_norms_say_where_they_stand() -> None:
    assert "After the addition (post-norm)" in text_of("BERT", "encoder.2")
    assert "Before the part (pre-norm)" in text_of("GPT-2", "decoder.0")
    assert "After a part" in text_of("Gemma 2", "decoder.2")
    assert "mean 0 and variance 1" in text_of("GPT-2", "decoder.0")
    assert "name T5LayerNorm" in text_of("T5", "encoder.0")


def test_what_is_shared_is_said() -> None:
    assert "Key–value heads: 2" in text_of("Llama", "decoder.1")
    assert "Key–value heads: 1" in text_of("Falcon", "decoder.1")
    assert "in parallel" in text_of("GPT-J", "decoder.3")
    assert "2 of 3 layers attend within 4 tokens" in text_of("ModernBERT", "encoder.1")


@loop_over(
    ("name", "said"),
    [("BERT", "GELU"), ("Llama", "gated SiLU (SwiGLU)"), ("ModernBERT", "gated GELU (GeGLU)"), ("T5", "ReLU"),
     ("gpt-oss", "gated silu (SwiGLU)"), ("ESM", "")],
)  # fmt: skip
def test_activations_by_name(name: str, said: str) -> None:
    feed_forward = built(name).stacks[0].feed_forward
    assert feed_forward is not None
    assert activation(feed_forward) == said


@pytest.mark.parametrize(
    ("class_name", "title"),
    [("BertForMaskedLM", "Masked-word head"), ("GPT2LMHeadModel", "Next-word head"), ("XForFun", "Task head")],
)
def test_heads_by_class(class_name: str, title: str) -> None:
    assert head_title(class_name) == title


def test_letters_of_two_sides_are_told_apart_where_they_differ() -> None:
    bart = list(sizes(built("BART"), lengths(built("BART"))))
    assert ("n", "7", "tokens, encoder") in bart
    assert ("m", "5", "tokens, decoder") in bart
    assert ("h", "3", "heads per layer") in bart
    assert ("h_kv", "2", "key–value heads") in list(sizes(built("Llama"), lengths(built("Llama"))))


def test_the_payload_is_what_the_script_draws() -> None:
    build = built("BART")
    data = payload(
        towers(build, lengths(build)), "t", "f", explain_parts(build, lengths(build)), "encoder.0", [("n", "7", "x")]
    )
    assert set(data) == {"title", "file", "picked", "sizes", "wide", "narrow", "told"}
    assert data["wide"]["width"] == 2 * data["narrow"]["width"]
    assert data["narrow"]["height"] > data["wide"]["height"]
    assert set(data["told"]) == {shape["id"] for shape in data["wide"]["shapes"] if shape.get("id")}


def test_the_page_s_options_live_in_the_address() -> None:
    assert parse_params(BlockOptions, {"piece": "encoder.3", "fold": "cost"}) == (BlockOptions("encoder.3", "cost"), [])
    assert parse_params(BlockOptions, {"fold": "parameters,cost"})[0].open_sections == ("parameters", "cost"), (
        "what was opened stays open"
    )
    assert parse_params(BlockOptions, {"fold": "everything"})[1]
    assert set(FOLDS) == {"parameters", "kinds", "activation", "cost"}
    assert all(len(label) <= 15 for label in SHORT.values()), "bars have room for 18 letters, three are the side's"


# --- cost of n² ------------------------------------------------------------------------------------------------------


def test_lengths_end_at_the_limit() -> None:
    assert measured_lengths(512)[:3] == [16, 23, 32]
    assert measured_lengths(512)[-1] == 512
    assert measured_lengths(10) == [10]
    assert max(measured_lengths(10**9)) == 32768


def test_nothing_is_expected_of_the_first_length() -> None:
    assert expected_seconds([], 16) == 0


def test_maps_of_all_layers_by_hand() -> None:
    assert map_bytes(built("BERT"), 10) == 4 * 2 * 3 * 10**2
    assert map_bytes(built("BART"), 10) == 4 * (2 + 2 + 2) * 3 * 10**2, "encoder, decoder and cross"


def test_a_layer_without_a_width_of_its_own_takes_its_heads() -> None:
    sizes = sizes_of(built("Llama").stacks[0])
    assert (sizes.width, sizes.kv_heads, sizes.gated, sizes.hidden) == (24, 2, True, 32)


@pytest.mark.slow
def test_the_embedded_model_s_sentence() -> None:
    said = sentence(LocalBackend().inspect(Anatomy()))
    assert said == "BertModel: encoder of 6 layers with 12 heads, post-norm; 22,713,216 parameters."


def wide(text: str) -> int:
    """How many letters wide it is; a Chinese one is as wide as two."""
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in text)


@loop_over("name", NAMES)
def test_every_architecture_is_explained_in_chinese(name: str) -> None:
    build = built(name)
    with use_language("zh"):
        said = explain_parts(build, lengths(build))
        drawn = draw(towers(build, lengths(build)), True)
        assert "个参数。" in sentence(build)
    assert all(one.text.endswith("。") for one in said.values())
    assert next(iter(said)).rsplit(".", 1)[-1].isdigit(), "an attention is explained first"
    for box in (shape for shape in drawn.shapes if shape["kind"] == "box"):
        assert all(wide(line) * STRONG <= box["w"] for line in box["title"])
        assert all(wide(line) * LETTER <= box["w"] for line in box["notes"])
