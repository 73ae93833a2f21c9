"""The panel "Why this head?": its parts sum to the score, and a head among them opens its own decomposition."""

from __future__ import annotations

import re

import numpy as np
import pytest

from attention.score_terms import side_values
from attention.view import View
from i18n import typeset_number
from inference import TraceRequest
from inference.files.embedded import BERT
from inference.tasks.score_decomposition import RANDOM
from tests.support.asking import asked, notes
from ui.input.probes import LIBRARY
from ui.pages.explore.variants import question
from ui.run.services import get_backend
from ui.show.why_head import KEY, TRAIL, describe_checks, pair_rows, selected_link, summary
from ui.state.selection import marked_target
from ui.state.view_state import ViewState

TIRED = LIBRARY[0].text
FIND = {"layer": 3, "head": 1, "focus": 10, "target": 2}
pytestmark = pytest.mark.slow


def signed(value: float) -> str:
    """Return a number as in a message."""
    return typeset_number(f"{value:+.2f}")


def test_the_parts_of_both_sides_sum_to_the_excess() -> None:
    choice, view = ViewState(model=BERT, text=TIRED), View(get_backend().trace(TraceRequest(BERT, TIRED)))
    link = selected_link(view, FIND)
    assert link is not None
    assert (link.name, link.source, link.target) == ("3-1", "it", "animal")
    found = get_backend().inspect(question(choice, view, link))
    excess = found.score - found.mean_over_keys
    for side in ("query", "key"):
        values = [value for _name, (value,) in side_values([found.terms], side)]
        np.testing.assert_allclose(sum(values), excess, atol=1e-4)
        assert [abs(value) for value in values] == sorted(map(abs, values), reverse=True)
    rows = pair_rows(found.terms)
    np.testing.assert_allclose(sum(row[2] for row in rows), found.score, atol=1e-4)
    np.testing.assert_allclose(sum(row[3] for row in rows), excess, atol=1e-4)


def test_the_larger_part_is_named_first_with_its_measured_change() -> None:
    choice, view = ViewState(model=BERT, text=TIRED), View(get_backend().trace(TraceRequest(BERT, TIRED)))
    link = selected_link(view, FIND)
    assert link is not None
    found = get_backend().inspect(question(choice, view, link))
    largest = [(side, *side_values([found.terms], side)[0]) for side in ("query", "key")]
    expected = [signed(found.score - found.mean_over_keys)]
    for side, name, [value] in sorted(largest, key=lambda part: -abs(part[2][0])):
        checks = [check for check in found.checks if (check.side, check.source) == (side, name) and check.differs]
        expected += [signed(value), *(signed(-check.measured) for check in checks)]
    assert len(expected) > 3, "a check of a named part differs"
    assert re.findall(r"[+−]\d\.\d\d", summary(link, found, None, "")) == expected
    sources = [check for check in found.checks if check.source != RANDOM]
    counts = [sum(check.differs for check in sources), len(sources)]
    assert [int(count) for count in re.findall(r"\d+(?= (?:of|sources))", describe_checks(found.checks))] == counts
    assert re.findall(r"\d+", describe_checks([check for check in found.checks if not check.differs])) == [
        "20"
    ]  # percent


def test_a_link_without_a_target_is_no_link() -> None:
    view = View(get_backend().trace(TraceRequest(BERT, TIRED)))
    assert selected_link(view, {**FIND, "target": None}) is None
    assert selected_link(view, {**FIND, "focus": None}) is None


def test_a_text_without_a_chosen_target_explains_the_marked_word() -> None:
    text = "The doctor asked the lawyer because she was curious."
    view = View(get_backend().trace(TraceRequest(BERT, text)))
    source, words = 7, range(1, 11)
    chosen = {"layer": 5, "head": 8, "focus": source, "target": None, "order": "layer"}
    rows = view.rows(source)
    for order, row in (("layer", rows[5, 8]), ("focus", rows.max(axis=(0, 1)))):
        largest = max((at for at in words if at != source), key=lambda at: row[at])
        assert marked_target({**chosen, "order": order}, view) == largest
    assert marked_target({**chosen, "focus": None}, view) is None
    target = marked_target(chosen, view) or 0
    page = asked("explore", model=BERT, text=text, layer=5, head=8)
    page.session_state[KEY] = True
    page.run()
    assert any(f"“{view.keys[target].text}”" in note and re.search(r"[+−]\d\.\d\d", note) for note in notes(page))


def test_a_head_among_the_parts_opens_its_own_decomposition() -> None:
    page = asked("explore", model=BERT, text=TIRED, layer=3, head=1, focus=10, to=2)
    page.session_state[KEY] = True
    page.run()
    assert not page.exception
    (said,) = (note for note in notes(page) if "3-1" in note and re.search(r"\+\d\.\d\d", note) and "→" in note)
    assert len(re.findall(r"[+-]\d\.\d\d", said)) >= 5  # excess, two parts, and the change of the variant
    (trail,) = (group for group in page.button_group if group.key == TRAIL)
    chosen = next(option for option in trail.options if "animal" in option)
    trail.set_value(chosen).run()
    layer, head = re.findall(r"(\d+)-(\d+)", chosen)[0]
    assert (page.query_params["layer"], page.query_params["head"], page.query_params["focus"]) == (layer, head, "2")
    page.session_state[KEY] = True  # The test's browser does not send the state of an expander.
    page.run()
    assert any(f"{layer}-{head}" in note and re.search(r"[+-]\d\.\d\d", note) for note in notes(page))
