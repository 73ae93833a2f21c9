"""Accessibility violations (WCAG 2.2 A and AA) of a page, found by axe-core."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page

STANDARDS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
OF_COLOURS = ["color-contrast", "link-in-text-block"]  # A theme can break these rules although another theme passes.


@cache
def _axe() -> str:
    import axe_playwright_python

    return (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8")


def accessibility(
    page: Page, leave_out: Sequence[str] = (), rules_off: Sequence[str] = (), only: Sequence[str] = ()
) -> list[str]:
    """Return a line for each WCAG 2.2 A or AA violation that axe-core finds, shadow trees included.

    ``leave_out`` contains CSS selectors and ``rules_off`` ids of rules, for violations that Streamlit causes; give
    the reason at the call. ``only`` restricts the check to these rules.
    """
    if not page.evaluate("'axe' in window"):
        # This call is exempt from the app's content security policy, which forbids inline scripts.
        page.evaluate(f"() => {{ {_axe()}; }}")
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
