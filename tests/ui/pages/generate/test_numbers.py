"""Numbers on the Generate page, compared with the backend and with the model's own generation."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from attention.roles import largest_weight_back, observe
from inference import LocalBackend, TraceRequest
from inference.task_heads import CAUSAL, WHAT
from inference.tasks.decoding import DecodingStep, NextToken
from inference.tasks.heads import InductionHeads
from inference.tasks.predictions import NextLens
from tests.support.asking import allowed, asked, notes, plain_numbers, press, says, text_of
from tests.support.clicking import address
from tests.support.predictors import BARE
from tests.support.savedfiles import Saved, table
from tests.support.tinymodels import save
from tests.support.visitor import known, matched
from ui.pages.generate.options import WHOLE

TEXT = "The cat sat on the mat, and the dog"


class Writers:
    """Tiny decoders and the backend that the pages use."""

    def __init__(self, root: Path, backend: LocalBackend) -> None:
        self.root, self.backend = root, backend

    def model(self, name: str) -> str:
        return str(self.root / name)

    def step(self, *written: int, name: str = "gpt2", text: str = TEXT, **more: Any) -> DecodingStep:
        asked = NextToken(model=self.model(name), text=text, written=written, top=100, **more)
        return self.backend.predict(asked)

    def greedy(self, count: int, name: str = "gpt2") -> tuple[int, ...]:
        path: tuple[int, ...] = ()
        for _ in range(count):
            path = (*path, self.step(*path, name=name).greedy.token)
        return path

    def opened(self, name: str = "gpt2", **query: object) -> AppTest:
        return asked("generate", **{"model": self.model(name), "text": TEXT, **query})


@pytest.fixture(scope="module")
def writers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Writers]:
    root = tmp_path_factory.mktemp("writers")
    for name in ("gpt2", "llama"):
        save(root / name, name)
    with allowed(root) as backend:
        yield Writers(root, backend)


def path_of(page: AppTest) -> tuple[int, ...]:
    """Return the generated tokens in the address."""
    return tuple(int(token) for token in address(page).get("written", "").split(".") if token)


def unfold(page: AppTest, key: str) -> None:
    """Expand a section whose content is computed on demand."""
    page.session_state[key] = True
    page.run()


@pytest.mark.slow
def test_heads_that_share_keys_write_greedily_and_the_link_restores_it(writers: Writers, saved: Saved) -> None:
    page = writers.opened("llama", more=4)
    press(page, "Next token")
    assert path_of(page) == writers.greedy(1, "llama")
    press(page, "Write more")
    path = path_of(page)
    assert path == writers.greedy(5, "llama")
    page = asked("generate", **address(page))
    made, _, text = saved(page, "Save text").partition("\n\n")
    assert (made.splitlines()[0], text) == ("model: llama", TEXT + writers.step(*path, name="llama").text)
    press(page, "Undo")
    assert path_of(page) == path[:4]
    press(page, "To the prompt")
    assert path_of(page) == ()
    assert not {"Undo", "To the prompt"} & {button.label for button in page.button}


@pytest.mark.slow
def test_what_is_drawn_follows_the_seed(writers: Writers) -> None:
    page = writers.opened(pick="drawn", seed=1, more=5, show="looks")
    assert {one.key for one in page.slider} >= {"options_temperature", "options_top_p"}, "in every view"
    press(page, "Write more")
    path: tuple[int, ...] = ()
    for _ in range(5):
        path = (*path, writers.step(*path, seed=1).chosen.token)
    assert path_of(page) == path
    assert path != writers.greedy(5)
    press(page, "Resample")
    assert address(page)["seed"] == "2"
    assert path_of(page) == path, "what stands is kept; the next draw is another one"
    steps = [(seed, writers.step(seed=seed, top_k=5)) for seed in range(9)]
    seed, step = next((seed, step) for seed, step in steps if step.chosen.token != step.greedy.token)
    for pick, written in (("drawn", step.chosen), ("likeliest", step.greedy)):
        page = writers.opened(pick=pick, seed=seed, top_k=5)
        bars = json.loads(page.get("plotly_chart")[0].proto.spec)["layout"]["yaxis"]["ticktext"]
        bold = [at for at, label in enumerate(bars) if label.startswith("<b>")]
        assert [step.candidates[at].token for at in bold] == [written.token], "the token that is written next"


@pytest.mark.slow
def test_what_was_looked_at_before_any_token(writers: Writers, saved: Saved) -> None:
    path = writers.greedy(3)
    page = writers.opened(show="looks")
    for written in range(1, len(path) + 1):
        press(page, "Next token")
        assert path_of(page) == path[:written]
    step = writers.step(*path)
    seen = known(step.looks)
    layer, head = np.unravel_index(largest_weight_back(seen).argmax(), seen.shape[:2])
    row = seen[layer, head]
    at = 1 + row[1:-2].argmax()
    says(page, f"Before the next token, head {layer}-{head} attends back to “{step.row.pieces[at]}” ({row[at]:.0%}")
    unfold(page, "generate_looks_file")
    _, *rows = table(saved(page, "Save as CSV"))
    assert np.array([float(row[-1]) for row in rows]).reshape(seen.shape) == pytest.approx(seen, abs=1e-6)


def test_the_first_token_can_be_left_out(writers: Writers) -> None:
    page = writers.opened(show="sink", layer=1, head=2)
    trace = writers.backend.trace(TraceRequest(writers.model("gpt2"), TEXT))
    shares = observe(trace).strength("first")
    says(page, f"The first token, “{trace.tokens[0]}”, gets {shares.mean():.0%}")
    says(page, f"Head 1-2: {shares[1, 2]:.0%}")
    looks = known(writers.step().looks)[1, 2]
    says(page, f"First token: {looks[0]:.0%}")
    (switch,) = (switch for switch in page.checkbox if switch.label == "Include first token")
    switch.set_value(False).run()
    others = looks[1:] / looks[1:].sum()
    pattern = rf"\({others[:-2].max():.0%}\)"
    assert any(re.search(pattern, note) for note in notes(page)), notes(page)


def test_each_layer_would_write_its_own(writers: Writers, saved: Saved) -> None:
    page = writers.opened(show="layers")
    step = writers.step()
    tokens = tuple(found.token for found in step.candidates[:3])
    found = writers.backend.predict(NextLens(model=writers.model("gpt2"), text=TEXT, tokens=tokens))
    _, *rows = table(saved(page, "Save as CSV"))
    assert [row[0] for row in rows] == ["words", "layer 0", "layer 1"]
    assert [float(row[1]) for row in rows] == pytest.approx(found.probabilities[:, 0].tolist(), rel=1e-5)
    assert [int(row[2]) for row in rows] == found.ranks[:, 0].tolist()
    assert float(rows[-1][1]) == pytest.approx(step.candidates[0].probability, rel=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gpt2", "llama"])
def test_the_maps_are_those_of_one_pass(writers: Writers, name: str) -> None:
    # A distinct text avoids cached answers of other tests, which come from separate passes.
    page = writers.opened(name, show="looks", more=4, text=f"{TEXT} and slept")
    press(page, "Write more")
    assert len(path_of(page)) == 4
    unfold(page, "generate_law")
    (said,) = (note for note in notes(page) if "Largest difference" in note)
    assert re.findall(r"\d+", said)[:3] == ["5", "5", "4"]  # compared steps, all steps, steps from the cache
    worst = float(matched(r"single pass: (\S+);", plain_numbers(said)).group(1))
    assert worst <= 1e-5
    assert said.endswith("later token: 0.")


def test_induction_heads_and_the_text_to_try_them_on(writers: Writers, saved: Saved) -> None:
    page = writers.opened("llama", show="induction", sample=2)
    found = writers.backend.predict(InductionHeads(model=writers.model("llama"), seed=2))
    layer, head = np.unravel_index(found.matching.argmax(), found.matching.shape)
    says(page, f"Head {layer}-{head} gives {found.matching.max():.0%}")
    _, *rows = table(saved(page, "Save as CSV"))
    scores = {(int(row[0]), int(row[1])): [float(cell) for cell in row[2:4]] for row in rows}
    for place in np.ndindex(*found.matching.shape):
        assert scores[place] == pytest.approx([found.matching[place], found.control[place]], rel=1e-5)
    press(page, "Try induction head")
    assert address(page)["text"].startswith("Mr")
    assert address(page)["head"] == str(head)
    assert text_of(page).startswith("Mr")
    says(page, f"head {layer}-{head} attends back")


def test_an_example_is_read_up_to_its_last_word(writers: Writers) -> None:
    page = asked("generate", model=writers.model("gpt2"))
    whole = page.checkbox(WHOLE)
    assert not whole.value
    assert "tired" in whole.label
    short = "The animal didn't cross the street because it was too"
    says(page, f"“{writers.step(text=short).candidates[0].piece}” comes first")
    says(page, "“tired”")
    whole.set_value(True).run()
    says(page, f"“{writers.step(text=f'{short} tired.').candidates[0].piece}” comes first")
    assert "“tired”" not in " ".join(notes(page))
    assert "tired" in page.checkbox(WHOLE).label


def test_a_model_of_another_kind_lets_one_that_writes_answer(writers: Writers) -> None:
    page = writers.opened(model=BARE, speaker=writers.model("llama"))
    says(page, WHAT[CAUSAL])
    says(page, f"“{writers.step(name='llama').candidates[0].piece}” comes first")
