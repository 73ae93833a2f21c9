"""Declarations of options, and the widgets that are draw_knobs from them."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from i18n import gettext_lazy
from ui.state.params import format_params, parse_params
from viz.options import Option, option, options_of


@dataclass(frozen=True)
class Shared:
    model: str = option("", label="Model", name="speaker")


@dataclass(frozen=True)
class Waves(Shared):
    show: str = option("", choices={"map": gettext_lazy("Matrix"), "curves": gettext_lazy("Lines")})
    size: int | None = None


@dataclass(frozen=True)
class Axes:
    axes: int = option(2, choices=(2, 3))


def test_declarations_are_inherited() -> None:
    declared = options_of(Waves)
    assert list(declared) == ["model", "show", "size"]
    assert declared["model"].name == "speaker"
    assert (declared["size"].default, declared["size"].kind, declared["size"].allowed_values) == (
        None,
        "int | None",
        None,
    )
    assert Waves("a", "map", 3) == Waves(model="a", show="map", size=3)
    assert [field.default for field in fields(Waves)] == ["", "", None]


@pytest.mark.parametrize("raw", ["", "map", "curves"])
def test_default_and_choices_are_allowed(raw: str) -> None:
    assert parse_params(Waves, {"show": raw}) == (Waves(show=raw), [])


@pytest.mark.parametrize(("kind", "query"), [(Waves, {"show": "maps"}), (Axes, {"axes": "4"})])
def test_other_values_are_refused(kind: type[Any], query: dict[str, str]) -> None:
    found, problems = parse_params(kind, query)
    assert found == kind()
    assert len(problems) == 1


def test_sequence_of_choices_is_its_own_labels() -> None:
    (axes,) = options_of(
        dataclass(type("Axes", (), {"__annotations__": {"axes": int}, "axes": option(2, choices=[2, 3])}))
    ).values()
    assert axes.choices == {2: "2", 3: "3"}
    assert Option(0).label_of(7) == "7"


def test_address_uses_the_declared_name() -> None:
    assert format_params(Waves(model="a/b")) == {"speaker": "a/b"}


def draw_knobs() -> None:
    from dataclasses import dataclass

    import streamlit as st

    from i18n import _, gettext_lazy, use_language
    from ui.input.controls import bound_widget
    from ui.state.params import get_params
    from ui.state.session import begin
    from viz.options import option

    @dataclass(frozen=True)
    class Knob:
        scale: str = option(
            "sqrt",
            label=gettext_lazy("Scale"),
            help=gettext_lazy("Order"),
            choices={"sqrt": gettext_lazy("square root"), "linear": gettext_lazy("linear")},
        )
        size: int = option(3, label=gettext_lazy("Pairs"))

    begin("page")
    with use_language(st.session_state.get("code", "en")):
        bound_widget(Knob, "scale", st.selectbox)
    bound_widget(Knob, "size", st.number_input, _("Matrix"), min_value=1, help="mine")
    st.text(get_params(Knob))


def test_widget_takes_label_help_and_choices() -> None:
    app = AppTest.from_function(draw_knobs).run()
    (scale,), (size,) = app.selectbox, app.number_input
    assert (scale.label, scale.help, scale.options, scale.value) == (
        "Scale",
        "Order",
        ["square root", "linear"],
        "sqrt",
    )
    assert (size.label, size.help) == ("Matrix", "mine"), "words that are given replace those of the declaration"
    scale.set_value("linear").run()
    assert app.query_params["scale"] == "linear"
    assert "scale='linear'" in app.text[0].value


def test_widget_labels_are_translated() -> None:
    words: dict[str, Any] = {}
    for code in ("en", "zh"):
        app = AppTest.from_function(draw_knobs)
        app.session_state["code"] = code
        (scale,) = app.run().selectbox
        words[code] = (scale.label, scale.help, *scale.options)
    assert all(english != chinese for english, chinese in zip(words["en"], words["zh"], strict=True))
