"""The rates of the repository's prose and names may only improve until they meet the goals of tools/voice.py."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

import pytest

from tools.voice import (
    GOALS,
    LIMITS,
    MODULE_GOALS,
    MODULE_ROOM,
    Count,
    faults,
    lower_limits,
    measure,
    public_classes,
    quoted_messages,
    report,
    shared_names,
)

SAID = '"""What is told."""\n\n\ndef told() -> None:\n    """Where nobody reads."""\n'
PLAIN = '"""Labels."""\n\n\ndef label() -> None:\n    """Return a label."""\n'


def state(**rates: float) -> dict[str, Any]:
    """Return a report in which every rate except ``rates`` is at its goal."""
    return {
        "rates": {part: {**GOALS, **rates} for part in ("pages", "rest")},
        "bare participles": {"pages": 2, "rest": 3},
        "modules": {"pages": 260, "rest": 340},
        "repeated classes": ["Seen"],
        "quoted messages": 5,
    }


@pytest.mark.slow
def test_the_prose_is_no_worse_than_its_limits() -> None:
    """If this test fails, `python -m tools.voice --show told` prints the places of a habit."""
    assert faults(json.loads(LIMITS.read_text(encoding="utf-8")), report()) == []


def test_pages_and_the_rest_are_counted_apart() -> None:
    counts = measure([("ui/pages/a.py", SAID), ("attention/b.py", PLAIN), ("tests/test_c.py", SAID)])
    assert (counts["pages"].words, counts["pages"].habits["told"], len(counts["pages"].participles)) == (6, 1, 1)
    assert (counts["rest"].words, counts["rest"].habits["where"], len(counts["rest"].participles)) == (10, 1, 0)
    assert (counts["pages"].rates()["no verb first"], counts["rest"].rates()["no verb first"]) == (100, 0)
    assert Count().rates()["told"] == 0


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"rates": {"rest": {"told": 0.16}}}, "told is 0.16 in rest; the limit is 0.15."),
        ({"bare participles": {"rest": 4}}, "4 functions in rest are named by a bare participle; the limit is 3."),
        (
            {"modules": {"rest": 341 + MODULE_ROOM}},
            f"rest has {341 + MODULE_ROOM} modules, {340 + MODULE_ROOM} are allowed",
        ),
        ({"repeated classes": ["Asked", "Seen"]}, "The class name Asked is defined in several modules"),
        ({"quoted messages": 6}, "Tests quote 6 messages word by word, 5 are allowed"),
    ],
)
def test_a_value_above_its_limit_is_named(change: dict[str, Any], fault: str) -> None:
    now = deepcopy(state())
    for key, value in change.items():
        if isinstance(value, dict):
            for part, inner in value.items():
                now[key][part] = {**now[key][part], **inner} if isinstance(inner, dict) else inner
        else:
            now[key] = value
    (found,) = faults(state(), now)
    assert found.startswith(fault)
    assert faults(now, state()) == []


def test_limits_are_only_lowered() -> None:
    assert lower_limits(state(told=2), state(told=3))["rates"]["rest"]["told"] == 2
    assert lower_limits(state(told=2), state(told=1.11))["rates"]["rest"]["told"] == 1.2
    assert lower_limits(state(told=2), state(told=0))["rates"]["rest"]["told"] == GOALS["told"]
    lower = {**state(), "modules": {"pages": 270, "rest": 300}}
    assert lower_limits(state(), lower)["modules"] == {"pages": 260, "rest": MODULE_GOALS["rest"]}


def test_repeated_classes_are_found() -> None:
    sources = {
        "a.py": "class A: ...\nclass _B: ...",
        "b.py": "class A: ...\nclass _B: ...",
        "tests/c.py": "class C: ...",
        "d.py": "class C: ...",
    }
    classes = {name: public_classes(source, name) for name, source in sources.items()}
    assert shared_names(classes) == {"A": ["a.py", "b.py"]}


def test_only_messages_of_several_words_count_as_quoted() -> None:
    assert quoted_messages('says(page, "Layer 2 has no head 13.")') == 1
    assert quoted_messages('says(page, NO_HEAD, head=13)\nraises(ValueError, match="13")\nfind(match="a b c")') == 1
