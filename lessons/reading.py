"""A parser of lesson files (TOML) that reports the line of every error."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from i18n import LazyMessage, gettext_lazy
from inference.files import embedded
from lessons.checks import CHECKS, fits, reads
from lessons.schema import (
    KINDS,
    Answer,
    CheckCall,
    Claim,
    Lesson,
    LessonQuestion,
    LessonStep,
    LessonView,
    PlanPart,
    Teacher,
)
from lessons.toml_table import Path, TomlTable, line_numbers, line_of

MOST_BYTES = 200_000
MOST_STEPS, MOST_CHOICES, MOST_HINTS, MOST_MINUTES = 60, 8, 5, 240
SHORT, LONG = 200, 6_000  # limits in characters for a title and for a text
PAGE = re.compile(r"[a-z_]{1,40}")
TRANSLATING = ("translation", "translate")  # the page that opens with a translator, and its former name


@dataclass(frozen=True)
class Fault:
    """An error in a lesson file, on a line counted from 1."""

    line: int
    reason: LazyMessage


class Unreadable(ValueError):
    """Raised if a file is not a valid lesson; ``faults`` are ordered by line."""

    def __init__(self, faults: list[Fault]) -> None:
        self.faults = sorted(faults, key=lambda fault: fault.line)
        super().__init__("; ".join(f"{fault.line}: {fault.reason}" for fault in self.faults))


def lesson_of(text: str) -> Lesson:
    """Parse a lesson file; raise Unreadable if it is invalid."""
    faults: list[tuple[Path, LazyMessage]] = []
    found = _lesson(TomlTable(_parse_toml(text), (), faults))
    if faults:
        places = line_numbers(text)
        raise Unreadable([Fault(line_of(path, places), reason) for path, reason in faults])
    return found


def _parse_toml(text: str) -> dict[str, Any]:
    if len(text.encode("utf-8", "replace")) > MOST_BYTES:
        raise Unreadable(
            [Fault(1, gettext_lazy("The file is too long; the limit is {most:,} bytes.", most=MOST_BYTES))]
        )
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        where = re.search(r"\(at line (\d+), column \d+\)", str(error))
        line = int(where[1]) if where else max(1, text.rstrip("\n").count("\n") + 1)
        reason = re.sub(r"\s*\(at .*\)$", "", str(error))
        raise Unreadable([Fault(line, gettext_lazy("This is not valid TOML: {reason}.", reason=reason))]) from error
    except (ValueError, RecursionError) as error:  # numbers with thousands of digits, or deeply nested brackets
        raise Unreadable(
            [
                Fault(
                    1,
                    gettext_lazy(
                        "This is not valid TOML: {reason}.",
                        reason=gettext_lazy("it is nested too deeply, or a number is too long"),
                    ),
                )
            ]
        ) from error


def _lesson(table: TomlTable) -> Lesson:
    steps = table.tables("step", MOST_STEPS)
    if not steps:
        table.fault("step", gettext_lazy("A lesson has steps: write [[step]], then title and text."))
    found = Lesson(
        title=table.localized_text("title", SHORT),
        minutes=table.integer("minutes", 1, MOST_MINUTES),
        audience=table.localized_text("audience", SHORT, needed=False),
        about=table.localized_text("about", LONG, needed=False),
        steps=tuple(_step(step) for step in steps),
        teacher=_teacher(one) if (one := table.table("teacher")) else None,
        group=table.localized_text("group", SHORT, needed=False),
    )
    planned = sum(part.minutes for part in found.teacher.plan) if found.teacher else 0
    are_minutes_valid = not any(path[-1] == "minutes" for path, _reason in table.faults)
    if are_minutes_valid and planned and planned != found.minutes:
        table.fault(
            "minutes",
            gettext_lazy("The plan takes {plan} minutes, the lesson {all}.", plan=planned, all=found.minutes),
        )
    table.report_unknown_keys()
    return found


def _teacher(table: TomlTable) -> Teacher:
    plan = []
    for part in table.tables("plan", MOST_STEPS):
        plan.append(PlanPart(part.integer("minutes", 1, MOST_MINUTES), part.localized_text("what", LONG)))
        part.report_unknown_keys()
    found = Teacher(
        table.localized_text("aims", LONG), tuple(plan), table.localized_text("mistakes", LONG, needed=False)
    )
    table.report_unknown_keys()
    return found


def _step(table: TomlTable) -> LessonStep:
    claims = []
    for one in table.tables("claim", MOST_STEPS):
        call = _call(one, beside=("is", "tolerance"))
        value = _answer(one, "is", CHECKS[call.check].kind) if call else ""
        tolerance = one.number("tolerance", needed=False)
        if call is not None and value is not None:
            claims.append(Claim(call, value, 0.005 if tolerance is None else tolerance))
    found = LessonStep(
        title=table.localized_text("title", SHORT),
        text=table.localized_text("text", LONG),
        view=_view(view) if (view := table.table("view")) else None,
        question=_question(question) if (question := table.table("question")) else None,
        claims=tuple(claims),
    )
    if found.view is None and found.question and found.question.kind in ("head", "token"):
        table.fault("question", gettext_lazy("A head or token is picked in a view; this step has none."))
    table.report_unknown_keys()
    return found


def _view(table: TomlTable) -> LessonView:
    """Read a view from a link as in the browser's address bar, with or without a server."""
    page, query = _link(table, "link", table.text("link", 24_000))
    links = [_link(table, "also", link) for link in table.words("also")]
    also = tuple(LessonView(*link) for link in links)
    found = LessonView(page, query, table.words("highlight"), table.flag("yours"), also)
    table.report_unknown_keys()
    return found


def _link(table: TomlTable, name: str, written: str) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Return the view and the query of a link, and record an error of the entry ``name`` if it is invalid.

    The last of repeated parameters wins. A + counts as a space, as in links from browsers. A link to the page
    Translation without a model gets the app's translator, which this page opens.
    """
    link = urlsplit(written)
    page = link.path.strip("/").split("/")[-1] or "explore"
    if not PAGE.fullmatch(page):
        table.fault(
            name,
            gettext_lazy("“{page}” is not a page; copy a link from the address bar.", page=page[:40]),
        )
    try:
        fields = dict(parse_qsl(link.query, keep_blank_values=True, max_num_fields=64))
    except ValueError:
        fields = {}
        table.fault(name, gettext_lazy("The link has too many parts; copy it from the address bar."))
    page = fields.pop("view", page)  # a view of a page with several views is named by a parameter
    if page in TRANSLATING:
        fields.setdefault("model", embedded.TRANSLATOR)
    return page, tuple(fields.items())


def _question(table: TomlTable) -> LessonQuestion:
    kind = table.text("kind", SHORT)
    if kind not in KINDS:
        kinds = ", ".join(KINDS)
        table.fault("kind", gettext_lazy("“{name}” is not one of {known}.", name=kind[:40], known=kinds))
    choices = table.choices("choices", MOST_CHOICES, SHORT)
    if kind == "choice" and len(choices) < 2:
        table.fault("choices", gettext_lazy('A choice needs two answers, such as choices.yes = "Yes".'))
    inner = table.table("check")
    call = _call(inner) if inner else None
    if call and CHECKS[call.check].kind != kind:
        table.fault(
            "check",
            gettext_lazy(
                "The check {check} answers with a {its}, not a {kind}.",
                check=call.check,
                its=CHECKS[call.check].kind,
                kind=kind,
            ),
        )
    right = _answer(table, "right", kind) if "right" in table else None
    if right is not None and kind == "choice" and right not in dict(choices):
        table.fault(
            "right",
            gettext_lazy("“{name}” is not one of {known}.", name=str(right)[:40], known=", ".join(dict(choices))),
        )
    if kind == "choice" and call is None and right is None:
        table.fault("kind", gettext_lazy('Name the right choice by right = "…" or a check.'))
    found = LessonQuestion(
        kind=kind,
        ask=table.localized_text("ask", LONG),
        choices=choices,
        check=call,
        right=right,
        tolerance=table.number("tolerance", needed=False),
        hints=table.localized_texts("hints", MOST_HINTS, LONG),
        expected=table.localized_text("expected", LONG, needed=False),
        reveal=table.localized_text("reveal", LONG, needed=False),
    )
    table.report_unknown_keys()
    return found


def _call(table: TomlTable, beside: tuple[str, ...] = ()) -> CheckCall | None:
    """Read a check with its arguments, or record an error and return None if there is no such check."""
    name = table.text("name", SHORT)
    if name not in CHECKS:
        table.fault(
            "name",
            gettext_lazy("“{name}” is not one of {known}.", name=name[:40], known=", ".join(CHECKS)),
        )
        table.skip()
        return None
    needs = CHECKS[name].needs
    given: list[tuple[str, Any]] = []
    for key in [key for key in table.names() if key not in ("name", *beside)]:
        value = table.take(key)
        if (key in needs and fits(value, needs[key])) or (key not in needs and reads(key, value)):
            given.append((key, tuple(value) if isinstance(value, list) else value))
        elif key in needs:
            table.fault(key, gettext_lazy("The check {check} cannot use this “{key}”.", check=name, key=key))
        else:
            table.fault(key, gettext_lazy("The check {check} knows no “{key}”.", check=name, key=key[:40]))
    for key in [key for key, one in needs.items() if one.default is one.empty and key not in dict(given)]:
        if key not in table.seen:
            table.fault("name", gettext_lazy("The check {check} needs “{key}”.", check=name, key=key))
    if not beside:
        table.report_unknown_keys()
    return CheckCall(name, tuple(given))


def _answer(table: TomlTable, name: str, kind: str) -> Answer | None:
    """Read an answer: a head as [layer, head], a token by its index; record an error if it is invalid."""
    value = table.take(name)
    if kind == "head" and isinstance(value, list) and len(value) == 2 and all(type(one) is int for one in value):
        return (value[0], value[1])
    if kind == "number" and isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    if kind == "token" and type(value) is int:
        return value
    if kind in ("choice", "word", "text") and isinstance(value, str):
        return value
    table.fault(name, gettext_lazy("This is not a {kind}.", kind=kind[:40]))
    return None
