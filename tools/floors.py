"""Draws the house from its code: rooms as floors, their folders as boxes, and an arrow for what a room is built on.

    python -m tools.floors           rewrites docs/floors.svg

Rooms, folders, arrows, libraries and sizes are read from the files; PLAN says only where a room stands. An arrow that
follows from others is left out: who uses `ui` uses, through it, what `ui` uses. Standard library only.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from tests.support.imports import import_statements
from tests.support.repository import ROOT, files

PICTURE = Path("docs/floors.svg")


@dataclass(frozen=True)
class Place:
    """Where a room stands: floors counted from the top, columns from the left, of COLUMNS."""

    floor: int
    left: int
    right: int
    floors: int = 1


COLUMNS = 12
PLAN = {
    "app": Place(0, 0, 4),
    "pages": Place(0, 8, 12),
    "headlight": Place(0, 4, 8),
    "ui": Place(1, 0, 12),
    "training": Place(2, 0, 3),
    "probing": Place(2, 3, 5),
    "lessons": Place(2, 5, 7),
    "serving": Place(2, 7, 9),
    "viz": Place(2, 9, 12, floors=2),
    "inference": Place(3, 0, 9),
    "attention": Place(4, 0, 12),
    "wording": Place(5, 0, 8),
    "classroom": Place(5, 8, 12),
    "tests": Place(6, 0, 6),
    "bench": Place(6, 6, 9),
    "tools": Place(6, 9, 12),
}
OUTSIDE = ("tests", "bench", "tools")  # they look into every room, so their arrows would say nothing
LIBRARIES = ("torch", "transformers", "plotly", "bertviz", "streamlit")

WIDTH, EDGE, GAP = 960, 16, 30  # of the picture; around it; between floors, where the arrows are
SPACE = 10  # between rooms of a floor
HEAD, BOX, LINE = 44, 40, 48  # heights: of a room's heading, of a folder, and from one row of folders to the next
LEAST = 106  # width of the smallest folder

STYLE = """
  text { font: 13px system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif; fill: #31333f; }
  .ground { fill: #ffffff; } .room { fill: #eef3f8; stroke: #7d97b3; } .outside { stroke-dasharray: 5 4; fill: none; }
  .folder { fill: #ffffff; stroke: #b6c5d5; } .name { font-size: 16px; font-weight: 600; }
  .size { font-size: 11px; fill: #5c6470; } .library { font-size: 12px; fill: #a34700; font-style: italic; }
  .arrow { stroke: #0072b2; stroke-width: 2; fill: none; } .tip { fill: #0072b2; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e8e8ec; } .ground { fill: #0e1117; } .room { fill: #1a2430; stroke: #5d7590; }
    .outside { fill: none; }
    .folder { fill: #0e1117; stroke: #435466; } .size { fill: #a9b0ba; } .library { fill: #e69f00; }
    .arrow { stroke: #56b4e9; } .tip { fill: #56b4e9; }
  }
"""


@dataclass(frozen=True)
class Part:
    """A room or a folder of it: how many modules it has, and how many lines."""

    modules: int
    lines: int


@dataclass(frozen=True)
class House:
    """What the code says of itself."""

    rooms: Mapping[str, Part]
    folders: Mapping[str, Mapping[str, Part]]  # by room, then by name; a room without folders has none
    uses: Mapping[str, frozenset[str]]  # rooms by room, what follows from others left out
    libraries: Mapping[str, tuple[str, ...]]


def house(root: Path) -> House:
    """The house as its files have it."""
    modules = [file for file in files(root) if _counts(file)]
    names = {_room(file) for file in modules}
    folders = {room: sorted({f.parts[1] for f in modules if _room(f) == room and len(f.parts) > 2}) for room in names}
    inside = names - set(OUTSIDE)
    imported = {room: _imported(root, (f for f in modules if _room(f) == room)) for room in sorted(inside)}
    return House(
        rooms={room: _part(root, (f for f in modules if _room(f) == room)) for room in sorted(names)},
        folders={
            room: {at: _part(root, (f for f in modules if f.parts[:2] == (room, at))) for at in folders[room]}
            for room in sorted(names)
        },
        uses=reduced({room: (found & inside) - {room} for room, found in imported.items()}),
        libraries={room: tuple(name for name in LIBRARIES if name in found) for room, found in imported.items()},
    )


def reduced(uses: Mapping[str, frozenset[str]]) -> dict[str, frozenset[str]]:
    """Each room's uses without those that it has through another room that it uses.

    >>> reduced({"a": frozenset("bc"), "b": frozenset("c"), "c": frozenset()})["a"]
    frozenset({'b'})
    """
    return {room: frozenset(at for at in below if not _reached(below - {at}, at, uses)) for room, below in uses.items()}


def draw(found: House) -> str:
    """The picture, as SVG. Raises ValueError for a room that PLAN has no place for."""
    homeless = sorted(set(found.rooms) - set(PLAN))
    if homeless:
        raise ValueError(f"{', '.join(homeless)} has no place in the picture; give it one in PLAN of tools/floors.py.")
    plan = {room: place for room, place in PLAN.items() if room in found.rooms}
    heights = _heights(found, plan)
    tops = [EDGE + sum(heights[:floor]) + GAP * floor for floor in range(len(heights) + 1)]
    rooms = {room: _box(place, tops, heights) for room, place in plan.items()}
    body = [line for room, box in rooms.items() for line in _room_drawn(found, room, box)]
    for upper, lower in _arrows(found, rooms):
        body.append(_arrow(rooms[upper], rooms[lower]))
    height = tops[-1] - GAP + EDGE
    size = f'width="{WIDTH}" height="{height}"'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" {size}>',
            "<title>The rooms of the house, their folders, and which room is built on which</title>",
            f"<style>{STYLE}</style>",
            f'<rect class="ground" {size} rx="8"/>',
            *body,
            "</svg>\n",
        ]
    )


def rounded(count: int) -> str:
    """A number to two digits, so that the picture does not change with every line.

    >>> rounded(7), rounded(1234)
    ('7', '1,200')
    """
    step = 10 ** max(0, len(str(count)) - 2)
    return f"{round(count / step) * step:,}"


# --- what the files say ------------------------------------------------------------------------------------------


def _counts(file: Path) -> bool:
    """Whether a file is a module, Python's or JavaScript's; not __init__.py, nor a test beside a script."""
    return file.suffix in {".py", ".js"} and file.name != "__init__.py" and (len(file.parts) > 1 or file.stem in PLAN)


def _room(file: Path) -> str:
    return file.parts[0].removesuffix(".py")


def _part(root: Path, modules: Iterable[Path]) -> Part:
    lines = [len((root / file).read_text(encoding="utf-8").splitlines()) for file in modules]
    return Part(len(lines), sum(lines))


def _imported(root: Path, modules: Iterable[Path]) -> frozenset[str]:
    """The first names of everything that Python modules import."""
    return frozenset(
        name.split(".")[0]
        for file in modules
        if file.suffix == ".py"
        for node in import_statements((root / file).read_text(encoding="utf-8"))
        for name in _names(node)
    )


def _names(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module:
        yield node.module


def _reached(starts: Iterable[str], end: str, uses: Mapping[str, frozenset[str]]) -> bool:
    seen, left = set[str](), list(starts)
    while left:
        at = left.pop()
        if at not in seen:
            seen.add(at)
            left += uses.get(at, ())
    return end in seen


# --- where everything stands -------------------------------------------------------------------------------------

Box = tuple[int, int, int, int]  # left, top, width, height


def _heights(found: House, plan: Mapping[str, Place]) -> list[int]:
    """Each floor as high as its fullest room; a room of two floors may make the lower one higher."""
    heights = [0] * (1 + max(place.floor + place.floors - 1 for place in plan.values()))
    for room, place in sorted(plan.items(), key=lambda entry: entry[1].floors):
        folders = 0 if room in OUTSIDE else len(found.folders[room])
        needed = _needed(folders, _most_columns(_across(place)[1]))
        last = place.floor + place.floors - 1
        above = sum(heights[place.floor : last]) + GAP * (place.floors - 1)
        heights[last] = max(heights[last], needed - above)
    return heights


def _across(place: Place) -> tuple[int, int]:
    """Left edge and width of a room."""
    column = (WIDTH - 2 * EDGE + SPACE) / COLUMNS
    return round(EDGE + column * place.left), round(column * (place.right - place.left)) - SPACE


def _box(place: Place, tops: Sequence[int], heights: Sequence[int]) -> Box:
    left, width = _across(place)
    last = place.floor + place.floors - 1
    return left, tops[place.floor], width, tops[last] + heights[last] - tops[place.floor]


def _most_columns(width: int) -> int:
    """How many folders fit side by side."""
    return (width - SPACE) // (LEAST + SPACE)


def _needed(folders: int, columns: int) -> int:
    """The height of a room with its folders in so many columns."""
    return HEAD + LINE * -(-folders // columns) + (4 if folders else 0)


def _columns(folders: int, width: int, height: int) -> int:
    """The fewest columns with which folders fill a room without leaving it."""
    most = _most_columns(width)
    return next((columns for columns in range(1, most) if _needed(folders, columns) <= height), most)


def _arrows(found: House, rooms: Mapping[str, Box]) -> list[tuple[str, str]]:
    return [(room, below) for room in rooms for below in sorted(found.uses.get(room, ()))]


# --- what is drawn -----------------------------------------------------------------------------------------------


def _room_drawn(found: House, room: str, box: Box) -> Iterator[str]:
    left, top, width, height = box
    name = "app.py" if room == "app" else f"{room}/"
    kind = "room outside" if room in OUTSIDE else "room"
    yield f'<rect class="{kind}" x="{left}" y="{top}" width="{width}" height="{height}" rx="6"/>'
    yield _text(left + SPACE, top + 20, name, "name")
    yield _text(left + SPACE, top + 36, _size(found.rooms[room]), "size")
    libraries = " · ".join(found.libraries.get(room, ()))
    if libraries:
        yield _text(left + width - SPACE, top + 20, libraries, "library", "end")
    folders = {} if room in OUTSIDE else found.folders[room]
    columns = _columns(len(folders), width, height)
    wide = (width - SPACE) // columns - SPACE
    for at, (folder, part) in enumerate(folders.items()):
        x, y = left + SPACE + (wide + SPACE) * (at % columns), top + HEAD + LINE * (at // columns)
        yield f'<rect class="folder" x="{x}" y="{y}" width="{wide}" height="{BOX}" rx="4"/>'
        yield _text(x + 8, y + 17, f"{folder}/")
        yield _text(x + 8, y + 32, f"{rounded(part.modules)} · {rounded(part.lines)}", "size")


def _size(part: Part) -> str:
    return f"{rounded(part.modules)} file{'' if part.modules == 1 else 's'} · {rounded(part.lines)} lines"


def _text(x: int, y: int, text: str, kind: str = "", anchor: str = "") -> str:
    marks = (f' class="{kind}"' if kind else "") + (f' text-anchor="{anchor}"' if anchor else "")
    return f'<text x="{x}" y="{y}"{marks}>{escape(text)}</text>'


def _arrow(upper: Box, lower: Box) -> str:
    """Straight down, in the middle of what the two rooms share."""
    x = (max(upper[0], lower[0]) + min(upper[0] + upper[2], lower[0] + lower[2])) // 2
    start, end = upper[1] + upper[3], lower[1]
    return f'<path class="arrow" d="M{x} {start}V{end - 8}"/><path class="tip" d="M{x - 6} {end - 9}h12l-6 9z"/>'


def main() -> None:
    """Rewrite the picture."""
    (ROOT / PICTURE).write_text(draw(house(ROOT)), encoding="utf-8")


if __name__ == "__main__":
    main()
