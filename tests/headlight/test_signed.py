"""Display and export of signed values in a notebook."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pytest

import headlight
from headlight.notebook import FORMATS, Shown
from ui.run.services import TraceStore
from viz.colors import diverging_ramp
from viz.components.explore import content
from viz.components.explore.content import payload
from viz.static.head import color_weights

MAPS = [[[[0.25, -1.0], [-0.5, 0.0]], [[0.0, 0.1], [0.0, 0.0]]]]


def shown() -> Shown:
    return headlight.view(MAPS, ["a", "cat"], signed=True)


def test_it_opens_at_the_number_furthest_from_zero() -> None:
    chosen = headlight.view(MAPS, ["a", "cat"], signed=True).selection
    assert (chosen["layer"], chosen["head"], chosen["by"], chosen["order"]) == (0, 0, "weight", "layer")


def test_the_page_is_told_and_offers_no_measures() -> None:
    made = shown()
    drawn = payload(made.view, made.summary, made.selection, "", "")
    assert (drawn["signed"], drawn["measures"]) == (True, [])
    offered = {name: [one["value"] for one in drawn["options"][name]["choices"]] for name in ("order", "by")}
    assert offered == {"order": ["layer", "focus"], "by": ["weight"]}
    header = content.grid(made.summary, None)
    assert b'"dtype":"I8"' in header
    assert '"coding":"signed8"' in made._repr_html_().replace("&quot;", '"').replace(": ", ":")


def test_numbers_in_files_keep_their_sign() -> None:
    made = shown()
    where = {**made.selection, "layer": 0, "head": 0}
    lines = list(csv.reader(io.StringIO(FORMATS["csv"](made.view, where).decode("utf-8-sig"))))
    assert lines[-2:] == [["a", "0.25", "-1.0"], ["cat", "-0.5", "0.0"]]
    assert lines[0] == ["query", "a", "cat"]
    written = json.loads(FORMATS["json"](made.view, where))
    assert written["weights"] == [[0.25, -1.0], [-0.5, 0.0]]
    assert written["caption"]["signed"]


def test_a_picture_has_one_colour_for_each_side_and_a_scale_around_zero() -> None:
    pixels = color_weights(np.array([[-1, 0, 1]], np.float32), 1.0, signed=True)
    np.testing.assert_array_equal(pixels[0], diverging_ramp()[[0, 128, 255]])
    drawn = FORMATS["svg"](shown().view, {**shown().selection, "layer": 0, "head": 0}).decode()
    assert drawn.index("−1<") < drawn.index(">1<")


def test_the_app_opens_the_file() -> None:
    from attention.storage import dump

    opened = TraceStore().open(dump(shown().trace))
    assert opened.is_signed()


def test_without_the_word_they_are_refused() -> None:
    with pytest.raises(ValueError, match="signed=True"):
        headlight.view(MAPS, ["a", "cat"])
