"""The picture of the floors is what the code draws of itself: its shape to the letter, its sizes to a quarter."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.repository import ROOT
from tools.floors import PICTURE, PLAN, Part, draw, house, reduced

SIZE = re.compile(r'(?<=class="size">)[^<]+')
AWAY = 0.25  # that a size in the picture may be off: it is drawn anew now and then, not with every line
FEW = 3  # modules that it may be off in any case


def shape(picture: str) -> str:
    """A picture without its numbers."""
    return SIZE.sub("", picture)


def sizes(picture: str) -> list[int]:
    """Its numbers: modules, lines, modules, lines, …"""
    return [int(n.replace(",", "")) for size in SIZE.findall(picture) for n in re.findall(r"[\d,]+", size)]


def faults(committed: str, drawn: str) -> list[str]:
    """What a committed picture has otherwise than the code, a sentence each."""
    if shape(committed) != shape(drawn):
        return [f"{PICTURE} has other rooms, folders or arrows than the code; run python -m tools.floors."]
    return [
        f"{PICTURE} says {said} where the code has {now}; run python -m tools.floors."
        for said, now in zip(sizes(committed), sizes(drawn), strict=True)
        if abs(said - now) > max(FEW, AWAY * now)
    ]


def test_the_picture_is_what_the_code_draws() -> None:
    assert faults((ROOT / PICTURE).read_text(encoding="utf-8"), draw(house(ROOT))) == []


@pytest.fixture
def small(tmp_path: Path) -> Path:
    for name, source in {
        "app.py": "import ui.shell",
        "ui/shell.py": "from viz.figures.a import a\nimport attention.mask",
        "ui/run/long.py": "x = 1\ny = 2",
        "viz/figures/a.py": "import plotly\nfrom attention import mask",
        "viz/figures/a.js": "//",
        "viz/figures/a.test.mjs": "// not a module",
        "attention/mask.py": "",
        "attention/__init__.py": "",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(source, encoding="utf-8")
    return tmp_path


def test_a_house_is_read_from_its_files(small: Path) -> None:
    found = house(small)
    assert found.rooms["ui"] == Part(2, 4)
    assert found.rooms["attention"] == Part(1, 0)
    assert found.folders["viz"] == {"figures": Part(2, 3)}
    assert found.libraries["viz"] == ("plotly",)
    assert found.uses == {"app": {"ui"}, "ui": {"viz"}, "viz": {"attention"}, "attention": frozenset()}


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("viz/sheets/b.py", ""),
        ("attention/a.py", "import viz"),
        ("attention/a.py", "\n" * 40),
        ("viz/a.py", "import torch"),
    ],
)
def test_a_picture_that_lies_is_found(small: Path, name: str, source: str) -> None:
    before = draw(house(small))
    (small / name).parent.mkdir(exist_ok=True)
    (small / name).write_text(source, encoding="utf-8")
    assert faults(before, draw(house(small)))


def test_one_more_module_is_no_lie(small: Path) -> None:
    before = draw(house(small))
    (small / "viz/figures/b.py").write_text("x = 1\n", encoding="utf-8")
    assert faults(before, draw(house(small))) == []


def test_a_room_without_a_place_is_asked_for_one(small: Path) -> None:
    (small / "ghost").mkdir()
    (small / "ghost/a.py").write_text("", encoding="utf-8")
    with pytest.raises(ValueError, match="ghost has no place in the picture"):
        draw(house(small))
    assert "ghost" not in PLAN


def test_an_arrow_that_follows_from_others_is_left_out() -> None:
    uses = {"a": frozenset("bcd"), "b": frozenset("c"), "c": frozenset("d"), "d": frozenset[str]()}
    assert reduced(uses) == {"a": {"b"}, "b": {"c"}, "c": {"d"}, "d": frozenset()}
