"""Original sentence pairs in two tiny languages, and a configuration that trains on them in seconds."""

from __future__ import annotations

import lzma
from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest

SUBJECTS = (
    ("The cat", "Le chat"),
    ("The dog", "Le chien"),
    ("My hen", "Ma poule"),
    ("One old cow", "Une vieille vache"),
)
ACTS = (("sleeps", "dort"), ("eats", "mange"), ("drinks", "boit"), ("sings", "chante"), ("isn't here", "n'est pas ici"))
WHEN = (("today", "aujourd'hui"), ("at noon", "à midi"), ("at night", "la nuit"))
SIGNS = ((".", "."), ("!", "\u202f!"))


def phrases() -> list[tuple[str, str]]:
    """Return 120 natural pairs and further translations of some of them: (source, target)."""
    found = [
        (f"{subject[0]} {act[0]} {when[0]}{sign[0]}", f"{subject[1]} {act[1]} {when[1]}{sign[1]}")
        for subject, act, when, sign in product(SUBJECTS, ACTS, WHEN, SIGNS)
    ]
    more = [(source, target.replace("dort", "sommeille")) for source, target in found if "dort" in target]
    return [*found, *more]


def write_pairs(file: Path) -> None:
    """Write the pairs as a compressed table with a third, unused column."""
    with lzma.open(file, "wt", encoding="utf-8") as stream:
        stream.writelines(f"{source}\t{target}\tmade up\n" for source, target in phrases())


TOML = """
run = "{run}"

[pairs]
name = "farm"
path = "pairs.tsv.xz"
licence = "CC0"
attribution = "made up"

[data]
held_out = 0.2
longest = 24
vocabulary = 500

[shape]
width = 24
layers = 2
heads = 3
inner = 40
positions = 80
dropout = 0.1

[optimiser]
steps = {steps}
warm_up = 4
rate = 1e-2
batch = 256

[loop]
seed = 7
threads = 1
precision = "{precision}"
evaluate_steps = {evaluate_steps}
evaluate_pairs = 6
log_steps = 2

[card]
title = "farm-en-fr"
summary = "Made for a test."
licence = "cc0-1.0"
"""

Setting = Callable[..., Path]


def setting_in(folder: Path) -> Setting:
    """Write the pairs; return a function that writes configurations next to them.

    The function takes (run, steps, ...) and returns the configuration's path.
    """
    write_pairs(folder / "pairs.tsv.xz")

    def write(run: str = "run", *, steps: int, precision: str = "fp32", evaluate_steps: int = 1_000) -> Path:
        file = folder / f"{run}.toml"
        text = TOML.format(run=run, steps=steps, precision=precision, evaluate_steps=evaluate_steps)
        file.write_text(text, encoding="utf-8")
        return file

    return write


@pytest.fixture
def setting(tmp_path: Path) -> Setting:
    """Return ``setting_in`` for the test's temporary folder."""
    return setting_in(tmp_path)
