"""A few inputs for every door in every run; `make fuzz` asks by the million. What was found once stays as a case."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings

from tests.fuzz.crossing import crossed
from tests.fuzz.door import Door
from tests.fuzz.doors import DOORS
from tests.fuzz.wire import SELECTION

SAMPLE = settings(
    derandomize=True,
    max_examples=25,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
    phases=(Phase.generate, Phase.shrink),
)
OFTEN = 0.01  # of the inputs: a page takes a second, and has its own tests


@pytest.mark.parametrize("door", [door for door in DOORS.values() if door.share > OFTEN], ids=lambda door: door.name)
def test_whatever_comes_is_answered_or_refused(door: Door) -> None:
    @SAMPLE
    @given(door.inputs)
    def ask(given: object) -> None:
        door.knock(given)

    ask()


FOUND: list[tuple[str, object]] = [
    ("model and revision", ("/models/\ud800", None)),  # half a character in a path
    ("model and revision", ("./" + "9" * 300, None)),  # longer than a disk takes
    ("notebook, view", {"attentions": np.zeros((0, 0, 0, 0), np.float32), "tokens": [""]}),  # no layer
    ("notebook, view", {"attentions": 0.5, "tokens": [""], "second": []}),
    ("notebook, view", {"attentions": 0.5, "tokens": [""], "special": 3}),
    ("notebook, view", {"attentions": [[[[1.0]]]], "tokens": ["a"], "keys": ["b"], "special": 3}),  # of one token
    ("component", ":"),
    ("component", True),
    ("component", [1, 2]),
    ("a chart's event", True),
    ("a chart's event", {"selection": {"points": [{"customdata": "0:"}]}}),
    ("a chart's event", {"selection": {"points": [{"customdata": [float("nan"), 2]}]}}),
    ("microscope", {**SELECTION, "pinned": 1}),
    ("microscope", {**SELECTION, "pinned": [{}, [], [0], None]}),
    ("microscope", {**SELECTION, "pinned": [[0, 1]] * 9}),  # more than an address may hold
    ("microscope", {**SELECTION, "tab": "nonsense", "order": {}}),
]


def test_a_child_of_two_is_like_both() -> None:
    """The letters of texts, the names of entries, and the types, so that a door is asked nothing it cannot be asked."""
    one, other = {"text": "abcdef" * 9, "cut": 3, "row": [1, 2]}, {"text": "uvwxyz" * 9, "pair": None, "row": [3]}
    random = Random(1)
    children = [crossed(one, other, random) for _ in range(200)]
    assert {type(child["text"]) for child in children} == {str}
    assert set("".join(child["text"] for child in children)) == set("abcdefuvwxyz")
    assert {name for child in children for name in child} == {"text", "cut", "row", "pair"}
    assert len({child["text"] for child in children}) > 100


@pytest.mark.parametrize(("door", "given"), FOUND, ids=str)
def test_what_was_found_once_stays_mended(door: str, given: object) -> None:
    DOORS[door].knock(given)
