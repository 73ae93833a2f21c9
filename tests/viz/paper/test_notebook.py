"""Notebooks of figures: their source gives the same values, and they fail if the numbers differ."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import pytest

from attention.edits import Ablate, MaskEdge
from inference import LocalBackend, TraceRequest
from tests.support.cases import loop_over
from viz.paper.notebook import Computation, citation, computation_notebook, figure_methods, python_source, version

VALUES = {
    "texts": ('a "quote"', "it's\n", "它"),
    "numbers": (0, -1.5, True, None),
    "request": TraceRequest("tiny", "The cat.", pair="It sat.", edits=(Ablate(3, 1), MaskEdge(0, 1, 2, 3, "cross"))),
    "containers": {"a": [1, (2,)], "b": ()},
}


def run(notebook: bytes) -> dict[str, Any]:
    names: dict[str, Any] = {}
    for cell in json.loads(notebook)["cells"][1:]:
        exec("".join(cell["source"]), names)
    return names


@loop_over("name", VALUES)
def test_the_source_of_a_value_gives_the_value(name: str) -> None:
    imports: set[tuple[str, str]] = set()
    source = python_source(VALUES[name], imports)
    names: dict[str, Any] = {}
    for module, imported in imports:
        exec(f"from {module} import {imported}", names)
    assert eval(source, names) == VALUES[name]


def test_the_source_of_an_array_keeps_its_type() -> None:
    given = np.array([[0.1, 2], [3, 4]], np.float32)
    found = eval(python_source(given, set()), {"np": np})
    np.testing.assert_array_equal(found, given)
    assert found.dtype == given.dtype


def test_a_value_without_source_is_refused() -> None:
    with pytest.raises(TypeError, match="set"):
        python_source({1, 2}, set())


def test_a_notebook_computes_numbers_and_fails_if_they_differ() -> None:
    doubled = Computation("numbers = double(np.array(one))", one=[1.0, 3.0], double=double)
    assert run(computation_notebook(doubled, LocalBackend, "", np.array([2.0, 6.0])))["numbers"].tolist() == [2, 6]
    for wrong in ([2.0, 6.1], [2.1, 6.0]):
        with pytest.raises(AssertionError):
            run(computation_notebook(doubled, LocalBackend, "", np.array(wrong)))


def test_a_notebook_names_its_kernel() -> None:
    document = json.loads(computation_notebook(Computation("numbers = np.ones(1)"), LocalBackend, "", np.ones(1)))
    assert document["metadata"]["kernelspec"]["name"] == "python3"


def double(values: Any) -> Any:
    return 2 * values


def test_the_methods_name_the_text_the_model_and_its_weights() -> None:
    about = {"text": "The cat sat. " * 99, "model": "tiny", "revision": "main", "weights_sha256": "ab" * 32}
    found = figure_methods("Roles", about, "Two-sided, n = 3.")
    assert found.startswith("Roles: “The cat")
    assert all(word in found for word in ("tiny", "main", "ab" * 32, "Two-sided, n = 3."))
    assert len(found) < 300
    assert "“" not in figure_methods("Roles", {}, "")


def test_the_methods_state_every_setting_and_both_texts() -> None:
    about = {
        "text": "A b.",
        "second_text": "A c.",
        "pair": "D.",
        "layer": 3,
        "head": 1,
        "ablated_heads": "5-11",
        "n": 2,
    }
    found = figure_methods("Effect", about, "")
    for part in ("“A b.”", "second text “A c.”", "pair “D.”", "head: 3-1", "ablated heads: 5-11", "n: 2"):
        assert part in found
    compared = figure_methods("Change", {"first": {"tokens": 3, "part": "x"}, "second": {"tokens": 4, "part": "x"}}, "")
    assert "tokens: 3 / 4; part: x." in compared


def test_texts_with_the_same_beginning_have_different_methods() -> None:
    said = {figure_methods("Roles", {"text": f"{'word ' * 99}{end}"}, "") for end in ("cat", "dog")}
    assert len(said) == 2


def test_the_citation_names_the_version_and_its_year_and_no_author() -> None:
    entry = citation()
    assert f"version = {{{version().split()[1]}}}" in entry
    assert re.search(r"year = \{20\d\d\}", entry)
    assert "author" not in entry
