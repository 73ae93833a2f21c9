"""The length of the text on screen stays within its limits, and the counts are right on small cases."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tools import screen_text
from tools.screen_text import (
    GOALS,
    LIMITS,
    GroupText,
    count_words,
    faults,
    labels_and_tooltips,
    long_sentences,
    measure,
    total,
)


@pytest.fixture(scope="module")
def report() -> dict[str, GroupText]:
    return screen_text.report()


@pytest.mark.slow
def test_the_text_on_screen_is_within_its_limits(report: dict[str, GroupText]) -> None:
    """If this test fails, shorten the text; `python -m tools.screen_text --show VIEW` prints what is too long."""
    assert faults(total(report), json.loads(LIMITS.read_text(encoding="utf-8"))) == []


@pytest.mark.slow
def test_a_percent_sign_follows_its_number_without_a_space(report: dict[str, GroupText]) -> None:
    messages = {message for group in report.values() for message in group.messages}
    spaced = re.compile(r"[\d}]\s%(?![\w{(])")
    assert spaced.search("95 % of draws")
    assert [message for message in messages if spaced.search(message)] == []


def test_every_goal_has_a_limit_that_is_no_lower() -> None:
    limits = json.loads(LIMITS.read_text(encoding="utf-8"))
    assert limits.keys() == GOALS.keys()
    assert all(limits[name] >= GOALS[name] for name in GOALS)


@pytest.mark.parametrize(
    ("text", "words"),
    [("", 0), ("one, two — three!", 3), ("**Head** {n}-{m}", 1), ("[a b](https://x.org/c)", 2), ("Layer\n- Head", 2)],
)
def test_words_are_counted_without_markup(text: str, words: int) -> None:
    assert count_words(text) == words


def test_a_sentence_ends_at_a_full_stop_or_a_line() -> None:
    part = "word " * 13
    assert long_sentences(f"{part}. {part}\n{part}") == []
    assert len(long_sentences(f"{part}; {part}")) == 1


def test_labels_and_tooltips_are_found_in_widgets_and_options() -> None:
    source = """
row.slider(_("Beam width"), 1, help=_("More."))
option(3, label=gettext_lazy("Top"), help=x)
st.write(_("No"))
"""
    assert sorted(labels_and_tooltips(source)) == [("label", "Beam width"), ("label", "Top"), ("tooltip", "More.")]


def test_a_message_of_two_groups_counts_once_in_the_total(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(screen_text, "ROOT", tmp_path)
    files = [Path("ui/pages/find/page.py"), Path("ui/pages/cause/page.py")]
    for file in files:
        (tmp_path / file).parent.mkdir(parents=True)
        (tmp_path / file).write_text('_("Same words")\nst.button(_("one two three four"))')
    groups = measure(files)
    assert set(groups) == {"find", "cause"}
    assert groups["find"].counts() == total(groups)
    assert total(groups) == {
        "messages": 2,
        "words": 6,
        "long sentences": 0,
        "long tooltips": 0,
        "long labels": 1,
    }
