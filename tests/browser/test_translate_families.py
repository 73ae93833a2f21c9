"""Every encoder-decoder architecture on the Translate page: it writes, its alignment is drawn, its steps are told."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import torch
from playwright.sync_api import expect
from transformers import AutoConfig, AutoModelForSeq2SeqLM

from inference.questions.decoding import NextTarget
from tests.support.architectures import MAPS_ONLY, RECORDED, named
from tests.support.browser import PATIENCE, rest
from tests.support.serving import serving
from tests.support.tinymodels import byte_level
from tests.support.visitor import DEEP_LINK, open_page

FIRST = 2 * PATIENCE  # ms; the app's first answer waits for its libraries, and they for a busy machine
TEXT = "The cat sat on the mat."
LONGEST = 8  # tokens that a model writes, its start token among them
FAMILIES = tuple(row.name for row in (*RECORDED, *MAPS_ONLY) if row.kind == "encoder-decoder")
SPECIAL = {"bos_token_id": 0, "pad_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 2}  # of byte_level


def save_translator(folder: Path, name: str) -> Path:
    """The architecture of that name with random weights in a folder."""
    byte_level(folder, roberta=True)
    row = named(name)
    config = AutoConfig.for_model(row.model_type, **{**row.config, "vocab_size": 350, **SPECIAL})
    noise = torch.Generator().manual_seed(row.seed)
    with torch.random.fork_rng(), torch.no_grad():
        torch.manual_seed(row.seed)
        model = AutoModelForSeq2SeqLM.from_config(config)
        for parameter in model.parameters():
            parameter.add_(torch.randn(parameter.shape, generator=noise) * row.spread)
    model.generation_config.max_length = LONGEST
    model.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory):
    """The app over a folder that a model is put into by each test."""
    with serving(tmp_path_factory.mktemp("families")) as started:
        yield started


@pytest.mark.parametrize("name", FAMILIES)
def test_every_translator_writes_and_is_aligned(page, problems, served, name: str) -> None:
    problems.allow(DEEP_LINK)
    folder = str(save_translator(served.root / re.sub(r"\W+", "-", name), name))
    first = served.backend.predict(NextTarget(folder, text=TEXT))
    open_page(page, served.url, "/translate", model=folder, text=TEXT, step=0)
    note = page.locator(".headlight-note")
    expect(note.filter(has_text="Before writing “").first).to_be_visible(timeout=FIRST)
    expect(page.locator(".st-key-translate_matrix .main-svg").first).to_be_visible()
    page.get_by_role("radio", name="One step").click()
    said = f"the model puts “{first.candidates[0].piece}” first"
    expect(note.filter(has_text=said).first).to_be_visible()
    rest(page)
    expect(page.locator("[data-testid='stException'], .headlight-refusal")).to_have_count(0)
