"""A page in a cell keeps its size limit for any text, describes its contents, and runs no code from its data."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import headlight
from headlight import notebook


def shown(tokens: list[str], layers: int = 2, heads: int = 3) -> headlight.Shown:
    count = len(tokens)
    maps = np.random.default_rng(0).random((layers, heads, count, count)).astype(np.float32) ** 8
    return headlight.view(maps / maps.sum(axis=-1, keepdims=True), tokens)


def inside(cell: str) -> str:
    """Return the page in a cell's frame."""
    found = re.fullmatch(r'<iframe sandbox="allow-scripts allow-downloads"[^>]* srcdoc="([^"]*)"></iframe>', cell)
    assert found, cell[:200]
    return html.unescape(found[1])


def embedded(content: str) -> Any:
    found = re.search(r'<script type="application/json" id="embedded">(.*?)</script>', content, re.DOTALL)
    assert found
    return json.loads(found[1])


@pytest.mark.parametrize(
    ("count", "said", "maps"),
    [
        (4, "Maps of all 6 heads; weights to three digits.", 6),
        (250, "Maps of all 6 heads; weights to within 0.004.", 6),
        (400, "Maps of the 3 nearest of 6 heads,", 3),
        (800, "Small maps of 6 heads, as the text is long.", 0),
    ],
)
def test_as_many_maps_as_there_is_room_for(count: int, said: str, maps: int) -> None:
    made = shown([f"w{at}" for at in range(count)])
    cell = made._repr_html_()
    assert len(cell.encode()) <= notebook.LARGEST
    content = inside(cell)
    assert said in content
    assert embedded(content)["absent"].endswith("A file has more room: .save(path).")
    held = embedded(content)["maps"]
    assert len(held) == maps
    if maps:
        assert "{layer}.{head}".format(**made.selection) in held


def test_a_text_too_long_for_any_page_is_told() -> None:
    made = shown([f"w{at}" for at in range(30)])
    assert "too long for a notebook" not in made._repr_html_()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(notebook, "LARGEST", 100_000)
        assert made._repr_html_().startswith("<p>Headlight: 30 tokens are too long")


def test_many_heads_have_smaller_small_maps_sooner_than_no_map_of_the_chosen_head() -> None:
    made = shown([f"w{at}" for at in range(100)], layers=12, heads=20)
    cell = made._repr_html_()
    assert len(cell.encode()) <= notebook.LARGEST
    held = embedded(inside(cell))
    assert held["grid"]["shape"] == [12, 20, 24, 24]
    assert held["maps"]


HOSTILE = [
    '"></iframe><script>alert(1)</script>',
    "</script><img src=x onerror=alert(1)>",
    "&quot;><b>",
    "\ud800",
    "<!--",
]


def test_hostile_tokens_stay_text(tmp_path: Path) -> None:
    made = shown(HOSTILE)
    content = inside(made._repr_html_())
    assert [cell["text"] for cell in embedded(content)["payload"]["queries"]] == [*HOSTILE[:3], "?", HOSTILE[4]]
    assert "<img" not in content
    assert "<b>" not in content
    assert content.count("</script>") == 2
    assert "connect-src" not in content
    assert "default-src 'none'" in content
    assert "<img" not in made.save(tmp_path / "page.html").read_text(encoding="utf-8")


def test_the_focus_is_a_word_or_a_place() -> None:
    tokens = ["[CLS]", *["The", "cat", "sat", "on", "a", "mat", "today", ",", "alone"], "[SEP]"]
    maps = np.full((1, 2, 11, 11), 1 / 11, np.float32)
    maps[0, 1, 2] = np.eye(11)[6]
    trace = headlight.view(maps, tokens).trace
    assert headlight.Shown(trace, "CAT").selection["focus"] == 2
    assert headlight.Shown(trace, "cat").selection["head"] == 1
    assert headlight.Shown(trace, 3).selection["focus"] == 3
    for nowhere in ("dog", "", 11, -1, True, False, 2.0, np.float32(2), np.bool_(True), np.array([2, 3]), [2], b"cat"):
        with pytest.raises(ValueError, match=r"CLS., The,"):
            headlight.Shown(trace, nowhere)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", [np.int64, np.uint8, np.int8, np.array, torch.tensor, int])
def test_a_focus_of_every_whole_kind_is_drawn(kind: Any, tmp_path: Path) -> None:
    made = headlight.Shown(shown(["The", "cat", "sat"]).trace, kind(1))
    assert (made.selection["focus"], type(made.selection["focus"])) == (1, int)
    assert embedded(made.save(tmp_path / "page.html").read_text(encoding="utf-8"))["payload"]["selection"]["focus"] == 1


def test_a_focus_is_a_word_before_a_piece_of_another() -> None:
    tokens = ["The", "em", "##bed", "##ding", "##s", "lie", "on", "my", "bed", "."]
    trace = shown(tokens).trace
    for asked, place in (("bed", 8), ("Embeddings", 1), ("##bed", 2), ("ding", 3), ("em", 1)):
        assert headlight.Shown(trace, asked).selection["focus"] == place


def test_the_page_is_a_string_too(tmp_path: Path) -> None:
    made = shown(["The", "cat", "sat"])
    assert type(made.html) is str
    assert made.html == made.save(tmp_path / "page.html").read_text(encoding="utf-8")


def test_a_text_of_special_tokens_alone_is_shown() -> None:
    assert headlight.view(np.full((1, 1, 2, 2), 0.5), ["[CLS]", "[SEP]"]).selection["focus"] == 0


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_page_is_as_light_as_it_was_asked_to_be(theme: Any, tmp_path: Path) -> None:
    made = headlight.view([[[1, 0], [0.5, 0.5]]], ["a", "cat"], theme=theme)
    said = f'data-theme="{theme}"'
    assert said in made.save(tmp_path / "page.html").read_text(encoding="utf-8")
    assert said.replace('"', "&quot;") in made._repr_html_()
    assert "<html lang=&quot;en&quot;>" in headlight.view([[[1, 0], [0.5, 0.5]]], ["a", "cat"])._repr_html_()


def test_another_theme_is_refused() -> None:
    with pytest.raises(ValueError, match=r"'blue'.* dark"):
        headlight.view([[[1, 0], [0.5, 0.5]]], ["a", "cat"], theme="blue")  # type: ignore[arg-type]


def test_a_page_without_scripts_has_a_picture_and_the_reason(tmp_path: Path) -> None:
    made = shown(["The", "<b>cat</b>", "sat"])
    content = made.save(tmp_path / "page.html").read_text(encoding="utf-8")
    before = content[: content.index("<script")]
    assert "this page shows one head" in before
    assert "<svg" in before
    assert "&lt;b&gt;cat&lt;/b&gt;</text>" in before
    long = shown([f"w{at}" for at in range(200)])
    assert "<svg" not in inside(long._repr_html_()).split("<script")[0]
    assert "needs JavaScript" in inside(long._repr_html_())
    assert "<svg" in long.html.split("<script")[0]


def test_the_page_states_which_share_of_a_row_is_missing() -> None:
    maps = np.full((1, 1, 2, 2), 0.135)
    made = headlight.view(maps, ["a", "cat"])
    assert embedded(made.html)["payload"]["rest"] == "missing"
    assert "rows sum to 0.27 to 0.27; up to 0.73 of a row is missing" in made.html
    assert embedded(shown(["a", "cat"]).html)["payload"]["rest"] is None
