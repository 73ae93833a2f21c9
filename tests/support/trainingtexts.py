"""A tiny corpus of original sentences, a tiny BERT configuration, and a configuration that trains in seconds."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from transformers import BertConfig

from tests.support.tinymodels import wordpiece

SUBJECTS = ("A cat", "The dog", "My hen", "One old cow", "That fox")
ACTS = ("sat by the gate", "ate the corn", "slept in the barn", "ran up the hill", "drank from the pond", "hid in hay")
WHEN = ("at noon", "at dawn", "all day", "by night")


def library() -> list[tuple[str, str]]:
    """Return 40 distinct documents of two to nine short sentences: (id, text)."""
    found = []
    for number in range(40):
        subject = SUBJECTS[number % 5]
        lines = [
            f"{subject} {ACTS[(number + at) % 6]} {WHEN[(number * at + number // 5) % 4]}."
            for at in range(2 + number % 8)
        ]
        found.append((f"farm-{number}", " ".join(lines)))
    return found


def write_library(folder: Path) -> None:
    """Write the first 30 documents to a JSONL file, the others to text files."""
    folder.mkdir(parents=True)
    rows = [json.dumps({"id": name, "text": text}) for name, text in library()[:30]]
    (folder / "many.jsonl").write_text("\n".join(rows) + "\n", encoding="utf-8")
    for name, text in library()[30:]:
        (folder / f"{name}.txt").write_text(text, encoding="utf-8")


def write_start(folder: Path) -> None:
    """Write a folder with a configuration and a tokenizer, without weights. Axes have unequal lengths."""
    folder.mkdir(parents=True)
    wordpiece(folder)
    vocabulary = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))["model"]["vocab"]
    BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=24,
        num_hidden_layers=2,
        num_attention_heads=3,
        intermediate_size=40,
        max_position_embeddings=64,
    ).save_pretrained(folder)


TOML = """
run = "{run}"
start = "start"

[[source]]
name = "farm"
path = "texts"
licence = "CC0"
attribution = "made up"

[data]
held_out = 0.25
length = 48

[optimiser]
steps = {steps}
warm_up = 3
rate = 5e-3
batch = 4

[hold]
weight = {hold}
rows = 2

[loop]
seed = 7
threads = 1
precision = "{precision}"
evaluate_steps = {evaluate_steps}
evaluate_pairs = 8
log_steps = 2
"""

Setting = Callable[..., Path]


def change(file: Path, old: str, new: str) -> Path:
    """Replace a string that occurs exactly once in a configuration file."""
    text = file.read_text(encoding="utf-8")
    assert text.count(old) == 1, old
    file.write_text(text.replace(old, new), encoding="utf-8")
    return file


def setting_in(folder: Path) -> Setting:
    """Write the corpus and the start folder; return a function that writes configurations next to them.

    The function takes (run, steps, ...) and returns the configuration's path.
    """
    write_library(folder / "texts")
    write_start(folder / "start")

    def write(
        run: str = "run", *, steps: int, hold: float = 0.0, precision: str = "fp32", evaluate_steps: int = 5
    ) -> Path:
        file = folder / f"{run}.toml"
        text = TOML.format(run=run, steps=steps, hold=hold, precision=precision, evaluate_steps=evaluate_steps)
        file.write_text(text, encoding="utf-8")
        return file

    return write


@pytest.fixture
def setting(tmp_path: Path) -> Setting:
    """Return ``setting_in`` for the test's temporary folder."""
    return setting_in(tmp_path)
