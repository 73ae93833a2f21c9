"""Tests of the drawing of every architecture: no overlaps, nothing outside, every connection drawn."""

from __future__ import annotations

from itertools import combinations

import pytest

from tests.support.anatomies import NAMES, built, lengths
from tests.support.cases import loop_over
from ui.pages.block.page import ALL, BACK, schematic
from ui.pages.block.plan import towers
from viz.components.block.block import (
    ENTERS,
    LETTER,
    RAIL,
    STRONG,
    LayerBox,
    LayerTower,
    ModelDrawing,
    PartBox,
    Shape,
    draw,
)

DRAWINGS = {
    **{f"{name}, {way}": (name, way == "beside") for name in NAMES for way in ("beside", "below")},
}


def drawing(name: str, beside: bool) -> ModelDrawing:
    return draw(towers(built(name), lengths(built(name))), beside)


def of(drawn: ModelDrawing, kind: str) -> list[Shape]:
    return [shape for shape in drawn.shapes if shape["kind"] == kind]


def corners(shape: Shape) -> tuple[float, float, float, float]:
    """Return the left, top, right and bottom of a shape's bounding box."""
    if shape["kind"] == "line":
        xs, ys = zip(*shape["points"], strict=True)
        return min(xs), min(ys), max(xs), max(ys)
    if shape["kind"] == "add":
        return shape["x"] - shape["r"], shape["y"] - shape["r"], shape["x"] + shape["r"], shape["y"] + shape["r"]
    return shape["x"], shape["y"], shape["x"] + shape.get("w", 0), shape["y"] + shape.get("h", 0)


@pytest.mark.slow
@loop_over(("name", "beside"), DRAWINGS.values(), ids=DRAWINGS)
def test_everything_is_inside(name: str, beside: bool) -> None:
    drawn = drawing(name, beside)
    for shape in drawn.shapes:
        left, top, right, bottom = corners(shape)
        assert 0 <= left <= right <= drawn.width, shape
        assert 0 <= top <= bottom <= drawn.height, shape


@loop_over(("name", "beside"), DRAWINGS.values(), ids=DRAWINGS)
def test_no_box_covers_another(name: str, beside: bool) -> None:
    drawn = drawing(name, beside)
    for one, other in combinations(of(drawn, "box") + of(drawn, "add"), 2):
        a, b = corners(one), corners(other)
        apart = a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]
        assert apart, (one["id"], other["id"])


@loop_over(("name", "beside"), DRAWINGS.values(), ids=DRAWINGS)
def test_lines_run_across_or_down_and_through_no_box(name: str, beside: bool) -> None:
    drawn = drawing(name, beside)
    boxes = [corners(box) for box in of(drawn, "box")]
    for line in of(drawn, "line"):
        for (x0, y0), (x1, y1) in zip(line["points"], line["points"][1:], strict=False):
            assert x0 == x1 or y0 == y1, "lines have right angles"
            for left, top, right, bottom in boxes:
                inside = max(x0, x1) > left and min(x0, x1) < right and max(y0, y1) > top and min(y0, y1) < bottom
                assert not inside, line


@loop_over("name", NAMES)
def test_every_step_is_drawn_once_and_every_text_fits(name: str) -> None:
    drawn = drawing(name, True)
    steps = {f"{stack.part}.{at}" for stack in built(name).stacks for at in range(len(stack.flow.steps))}
    ids = [shape["id"] for shape in of(drawn, "box") + of(drawn, "add")]
    tables = len([stack for stack in built(name).stacks if len(set(stack.before.parts) & SUMMED) > 1])
    assert len(ids) == len(set(ids)) + max(0, tables - 1), "a sum of tables for each side"
    assert steps <= set(ids)
    for box in of(drawn, "box"):
        assert all(len(line) * STRONG <= box["w"] for line in box["title"])
        assert all(len(line) * LETTER <= box["w"] for line in box["notes"])


SUMMED = {"token embeddings", "position embeddings", "segment embeddings"}


@loop_over("name", NAMES)
def test_every_residual_connection_goes_round(name: str) -> None:
    drawn = drawing(name, True)
    expected = sum(len(step.sources) > 1 for stack in built(name).stacks for step in stack.flow.steps)
    assert len([line for line in of(drawn, "line") if line["role"] == "residual"]) == expected
    crossing = [line for line in of(drawn, "line") if line["role"] == "memory"]
    assert len(crossing) == (built(name).kind == "encoder-decoder")


@pytest.mark.parametrize("beside", [True, False])
def test_what_the_encoder_made_reaches_the_cross_attention(beside: bool) -> None:
    drawn = drawing("BART", beside)
    [line] = [line for line in of(drawn, "line") if line["role"] == "memory"]
    [cross] = [box for box in of(drawn, "box") if box["role"] == "cross-attention"]
    left, top, _, bottom = corners(cross)
    assert line["points"][-1][0] == left
    assert top < line["points"][-1][1] < bottom


def test_a_small_drawing_by_hand() -> None:
    steps = (
        LayerBox(PartBox("a", "attention", "A"), (ENTERS,)),
        LayerBox(PartBox("f", "feed-forward", "F"), (ENTERS,)),
        LayerBox(PartBox("s", "add", "Add"), (ENTERS, 0, 1)),
    )
    drawn = draw([LayerTower("Decoder", "3 tokens", (), (), "2 ×", steps, 2, (), "3 × 4")], True)
    one, other = of(drawn, "box")
    assert one["y"] == other["y"], "what does not depend on each other stands side by side"
    assert one["x"] + one["w"] < other["x"]
    [residual] = [line for line in of(drawn, "line") if line["role"] == "residual"]
    assert {x for x, _ in residual["points"][1:3]} == {RAIL}
    assert {shape["text"] for shape in of(drawn, "text")} == {"Decoder", "3 tokens", "3 × 4"}


def test_schematics_differ_in_mask_and_cross_attention() -> None:
    shown = {kind: draw(schematic(kind), True) for kind in ("encoder", "decoder", "encoder-decoder")}
    masks = {kind: [shape["rows"] for shape in of(drawn, "cells")] for kind, drawn in shown.items()}
    assert masks == {"encoder": [ALL], "decoder": [BACK], "encoder-decoder": [ALL, BACK, ALL]}
    assert BACK[1] == (True, True, False, False, False)
    assert [box["title"] for box in of(shown["decoder"], "box")] == [["Masked self-attention"], ["Feed-forward"]]
