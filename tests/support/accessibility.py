"""Where a page breaks WCAG 2.2 A or AA, as far as axe-core can tell."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page

STANDARDS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
OF_COLOURS = ["color-contrast", "link-in-text-block"]  # those of their rules that another theme can break


@cache
def _axe() -> str:
    import axe_playwright_python

    return (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8")


def accessibility(
    page: Page, leave_out: Sequence[str] = (), rules_off: Sequence[str] = (), only: Sequence[str] = ()
) -> list[str]:
    """Where the page breaks WCAG 2.2 A or AA as far as axe-core can tell, a line for each place; shadow trees included.

    ``leave_out`` are CSS selectors, ``rules_off`` ids of rules, for what is Streamlit's own; say why at the call.
    ``only`` these rules are looked at, where the others have been on the same page.
    """
    if not page.evaluate("'axe' in window"):
        page.evaluate(f"() => {{ {_axe()}; }}")  # by the debugger's way in: the app's policy forbids inline scripts
    options = {
        "runOnly": {"type": "rule", "values": only} if only else {"type": "tag", "values": STANDARDS},
        "rules": {rule: {"enabled": False} for rule in rules_off},
        "resultTypes": ["violations"],
    }
    context = {"include": [["html"]], "exclude": [[selector] for selector in leave_out]}
    look = "async ([context, options]) => (await axe.run(context, options)).violations"
    found = page.evaluate(look, [context, options])
    return [
        f"{rule['id']} ({rule['impact']}): {rule['help']}: {' '.join(map(str, node['target']))}"
        for rule in found
        for node in rule["nodes"]
    ]
