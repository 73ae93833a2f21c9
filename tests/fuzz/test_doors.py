"""A few inputs for every fuzz target in every run (`make fuzz` tries millions), and all past findings."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings

from tests.fuzz.crossing import crossed
from tests.fuzz.door import Door
from tests.fuzz.doors import DOORS
from tests.fuzz.wire import SELECTION
from tests.support.cases import loop_over

SAMPLE = settings(
    derandomize=True,
    max_examples=25,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
    phases=(Phase.generate, Phase.shrink),
)
OFTEN = 0.01  # Share of the inputs; a page takes a second and has its own tests.


@pytest.mark.slow
@loop_over("door", [door for door in DOORS.values() if door.share > OFTEN], ids=lambda door: door.name)
def test_whatever_comes_is_answered_or_refused(door: Door) -> None:
    @SAMPLE
    @given(door.inputs)
    def ask(given: object) -> None:
        door.knock(given)

    ask()


FOUND: list[tuple[str, object]] = [
    ("model and revision", ("/models/\ud800", None)),  # A path with a lone surrogate.
    ("model and revision", ("./" + "9" * 300, None)),  # A name that is too long for the file system.
    ("notebook, view", {"attentions": np.zeros((0, 0, 0, 0), np.float32), "tokens": [""]}),  # Maps without layers.
    ("notebook, view", {"attentions": 0.5, "tokens": [""], "second": []}),
    ("notebook, view", {"attentions": 0.5, "tokens": [""], "special": 3}),
    # A map of a single token.
    ("notebook, view", {"attentions": [[[[1.0]]]], "tokens": ["a"], "keys": ["b"], "special": 3}),
    ("component", ":"),
    ("component", True),
    ("component", [1, 2]),
    ("a chart's event", True),
    ("a chart's event", {"selection": {"points": [{"customdata": "0:"}]}}),
    ("a chart's event", {"selection": {"points": [{"customdata": [float("nan"), 2]}]}}),
    ("microscope", {**SELECTION, "pinned": 1}),
    ("microscope", {**SELECTION, "pinned": [{}, [], [0], None]}),
    ("microscope", {**SELECTION, "pinned": [[0, 1]] * 9}),  # More pinned heads than an address may contain.
    ("microscope", {**SELECTION, "tab": "nonsense", "order": {}}),
]


def test_a_child_of_two_is_like_both() -> None:
    """A mix has the characters, keys and types of its parents, so that it is valid for their target."""
    one, other = {"text": "abcdef" * 9, "cut": 3, "row": [1, 2]}, {"text": "uvwxyz" * 9, "pair": None, "row": [3]}
    random = Random(1)
    children = [crossed(one, other, random) for _ in range(200)]
    assert {type(child["text"]) for child in children} == {str}
    assert set("".join(child["text"] for child in children)) == set("abcdefuvwxyz")
    assert {name for child in children for name in child} == {"text", "cut", "row", "pair"}
    assert len({child["text"] for child in children}) > 100


@loop_over(("door", "given"), FOUND, ids=str)
def test_what_was_found_once_stays_mended(door: str, given: object) -> None:
    DOORS[door].knock(given)
