"""Browser tests of fine-tuning: from an uploaded file to the saved model, and back by link."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.support import tinymodels
from tests.support.atrest import PATIENCE, click, rest, visit
from tests.support.browser import Problems
from tests.support.labelledtexts import classified
from tests.support.looks import accessible_and_fits
from tests.support.serving import Served
from tests.support.visitor import DEEP_LINK, file_of, open_page, stands

LONG = 4 * PATIENCE  # The training process imports torch and transformers, which is slow on a busy machine.


@pytest.fixture(scope="module")
def tiny(served: Served) -> str:
    """Return the folder of a tiny BERT model that the app may open."""
    return str(tinymodels.save(served.place("teach", "bert"), "bert"))


def rows() -> bytes:
    """Return a CSV file of labelled texts."""
    labels = classified()
    pairs = [*labels.train, *labels.dev, *labels.test]
    return "".join(["text,label\n", *(f"{row.text},{row.label}\n" for row in pairs)]).encode()


def test_from_a_file_to_a_saved_model(page: Page, app_url: str, problems: Problems, tiny: str) -> None:
    problems.allow(DEEP_LINK)
    open_page(page, app_url, "/teach", data="own", start=tiny, epochs=1, minutes=1)
    stands(page)
    page.get_by_test_id("stFileUploader").filter(has_text="Train rows").locator("input").set_input_files(
        {"name": "toys.csv", "mimeType": "text/csv", "buffer": rows()}
    )
    expect(page.get_by_text("3 classes; ")).to_be_visible()
    click(page.get_by_role("button", name="Fine-tune", exact=True))
    page.wait_for_url("**job=*")
    visit(page, page.url)  # A reload, or another device, shows an idle page while the training continues.
    expect(page.get_by_role("radio", name="Results", exact=True)).to_be_checked(timeout=LONG)
    expect(page.get_by_text("Test accuracy: ")).to_be_visible()
    keep = page.get_by_role("radio", name="Keep", exact=True)
    expect(page.get_by_text("The training is finished.")).to_be_visible(timeout=LONG)
    click(keep)
    expect(keep).to_be_checked()
    rest(page)
    accessible_and_fits(page)
    saved = file_of(page.get_by_role("link", name="Save model (zip)"))
    with zipfile.ZipFile(Path(saved.path())) as packed:
        names = {Path(name).name for name in packed.namelist()}
    assert {"model.safetensors", "config.json", "tokenizer.json", "README.md", "evaluation.json"} <= names
