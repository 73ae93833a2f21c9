"""A page with every figure, tests/out/gallery.html, and its differences from the golden files.

python -m tools.gallery             draw and compare
python -m tools.gallery --write     also replace the golden files, after you have looked at the figures
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from tests.support.gallery_page import page
from tests.support.goldens import changes, drawn, kept, write
from tests.support.repository import ROOT

OUT = ROOT / "tests" / "out" / "gallery.html"
MANY = 12  # maximal number of printed changes per figure


def main(arguments: Sequence[str]) -> int:
    """Write the page with every figure.

    Return 1 if a figure differs from its golden file or is no longer drawn, and ``--write`` is not given.
    """
    now, before = drawn(), kept()
    differ = {name: list(changes(before.get(name, {}), golden)) for name, golden in now.items()}
    told = [
        (name, "\n".join(f"{place}: {old!r} -> {new!r}" for place, old, new in found[:MANY]))
        for name, found in differ.items()
        if found
    ]
    gone = sorted(before.keys() - now.keys())
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text(page(told), encoding="utf-8")
    print(f"{len(now)} figures and sheets in {OUT.relative_to(ROOT)}")
    for name, what in told:
        print(f"{name} differs from its golden:\n{what}")
    for name in gone:
        print(f"{name} is drawn no longer")
    if "--write" in arguments:
        write(now)
    return int(bool(told or gone) and "--write" not in arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
