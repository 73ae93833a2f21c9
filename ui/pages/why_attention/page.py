"""The view Why attention: Table 1 of arXiv:1706.03762, evaluated at sizes that the reader chooses.

Recurrent, convolutional and attention networks can also be trained on small tasks.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from attention.complexity import TABLE, ComplexitySetting, LayerType, complexities
from attention.trace import Trace
from i18n import _, translate
from inference import UserError
from inference.tasks.anatomy import Anatomy
from ui.input.composing import compose
from ui.pages.why_attention.descriptions import WhyAttentionOptions
from ui.pages.why_attention.recorded_runs import draw_recorded
from ui.pages.why_attention.train_one import train_one
from ui.run.notices import show_error, show_notice
from ui.run.page_model import kind_of
from ui.run.services import get_backend
from ui.run.traces import read_trace
from ui.show.chart import draw_chart, theme
from ui.show.sections import reading_help
from ui.show.tables import download_button, draw_table, frame_csv
from ui.show.text import join_sentences
from ui.state.params import get_params, set_params
from ui.state.session import get_view_state
from ui.state.view_state import ViewState
from viz.figures.formulas import growth
from viz.paper.notebook import Computation

WIDTHS = (64, 128, 256, 384, 512, 768, 1024, 1536, 2048, 4096, 8192, 16384)
KERNELS = (2, 3, 5, 7, 9, 15, 31)
NEIGHBOURHOODS = (4, 8, 16, 32, 64, 128, 256, 512, 1024, 4096)
LENGTHS = (2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 100_000)
LONGEST = 100_000  # largest text length in the figures, in tokens
MOST = {"d": 100_000, "k": 1_000, "r": LONGEST, "n": LONGEST}
LEAST = {"d": 1, "k": 2, "r": 1, "n": 1}  # k begins at 2, since a kernel of width 1 connects no tokens
POINTS = 120


@dataclass(frozen=True)
class CostSetting:
    """The text length n, and the sizes d, k and r of the cost formulas in ``setting``."""

    setting: ComplexitySetting
    n: int


def controls(options: WhyAttentionOptions, width: int, tokens: int) -> CostSetting:
    """Draw the sliders for n, d, k and r, and return their values, limited to the range from LEAST to MOST."""
    columns = st.columns(4)
    asked = {"d": options.d or width, "k": options.k, "r": options.r, "n": options.n or tokens}
    values = {name: min(max(value, LEAST[name]), MOST[name]) for name, value in asked.items()}
    labels = {
        "d": (
            _("Width d"),
            {*WIDTHS, width},
            _("Dimensions of a token's vector; the model has {width:,}", width=width),
        ),
        "k": (_("Kernel k"), {*KERNELS}, _("Tokens that a convolution sees at once")),
        "r": (
            _("Neighbourhood r"),
            {*NEIGHBOURHOODS},
            _("Tokens that restricted self-attention sees around each"),
        ),
        "n": (_("Tokens n"), {*LENGTHS, tokens}, _("Your text has {tokens:,} tokens", tokens=tokens)),
    }
    for column, (name, (label, known, text)) in zip(columns, labels.items(), strict=True):
        key = f"why_{name}"
        st.session_state[key] = values[name]
        column.select_slider(
            label,
            sorted({*known, values[name]}),
            key=key,
            format_func=lambda value: f"{value:,}",
            on_change=partial(_on_change, name, key, {"d": width, "n": tokens}.get(name)),
            help=text,
        )
    return CostSetting(ComplexitySetting(values["d"], values["k"], values["r"]), values["n"])


def _on_change(name: str, key: str, usual: int | None) -> None:
    """Store the value of a slider in the URL, or None if it equals ``usual``.

    The model's width and the text's length are thus left out of the URL and follow the model and the text.
    """
    value = st.session_state[key]
    set_params(WhyAttentionOptions, **{name: None if value == usual else value})


def summary(numbers: CostSetting) -> str:
    """Return sentences that compare self-attention with a recurrent layer: operations at length n, and path lengths."""
    setting, n = numbers.setting, np.array([float(numbers.n)])
    attention, recurrent = (float(row.cost_at(n, setting)[0]) for row in TABLE[:2])
    costs = {"n": numbers.n, "d": setting.d, "attention": attention, "recurrent": recurrent}
    said = _(
        "At n = {n:,} and d = {d:,}, self-attention costs {times} times a recurrent layer (n² · d = {attention:,.0f}, "
        "n · d² = {recurrent:,.0f}).",
        times=_times(attention / recurrent),
        **costs,
    )
    path = float(TABLE[2].path_at(n, setting)[0])
    way = _(
        "Steps between the text's ends: self-attention 1, recurrent {n:,}, dilated convolutions (width "
        "{k}) {path:.2f}.",
        n=numbers.n,
        path=path,
        k=setting.k,
    )
    return join_sentences(said, way)


def _times(ratio: float) -> str:
    """Return a ratio with three significant digits, or as an integer from 100 on.

    >>> _times(24.0), _times(260.4166), _times(8192.0)
    ('24', '260', '8,192')
    """
    return f"{ratio:,.0f}" if ratio >= 100 else f"{ratio:.3g}"


def figures(numbers: CostSetting) -> None:
    """Draw the cost, the sequential operations and the maximum path length over n."""
    n = np.geomspace(1, LONGEST, POINTS)
    setting = numbers.setting
    drawn = {
        "cost": (_("Complexity per layer"), _("Operations")),
        "steps": (_("Sequential operations"), _("Steps")),
        "path": (_("Maximum path length"), _("Steps")),
    }
    for column, (measure, (title, unit)) in zip(st.columns(3), drawn.items(), strict=True):
        values = complexities(measure, n, setting)
        curves = [(translate(row.name), one) for row, one in zip(TABLE, values, strict=True)]
        figure = growth(n, curves, theme(), title, unit, numbers.n)
        code = f"numbers = complexities({measure!r}, np.geomspace(1, {LONGEST}, {POINTS}), setting)"
        computation = Computation(code, complexities=complexities, setting=setting)
        draw_chart(
            figure, f"why_{measure}_figure", place=column, about=partial(asdict, setting), computation=computation
        )
    st.caption(
        _(
            "Logarithmic axes: slope 1 grows with n, slope 2 with n². Curves are the terms in O(·) of "
            "[arXiv:1706.03762](https://arxiv.org/abs/1706.03762), table 1, without factors: growth, not seconds."
        )
    )


def table(numbers: CostSetting) -> None:
    """Draw the paper's table with its values at n, and a download button."""
    rows = pd.DataFrame([row_of(row, numbers) for row in TABLE])
    draw_table(rows, key="why_table")
    st.caption(
        _(
            "Formulas of table 1, at n = {n:,}, d = {d:,}, k = {k:,}, r = {r:,} (at most n). Path of dilated "
            "convolutions; contiguous kernels need n / k layers.",
            n=numbers.n,
            d=numbers.setting.d,
            k=numbers.setting.k,
            r=min(numbers.setting.r, numbers.n),
        )
    )
    download_button(_("Save as CSV"), frame_csv(rows), "why_attention.csv", _("All digits"), key="save_why_table")


def row_of(row: LayerType, numbers: CostSetting) -> dict[str, str]:
    """Return a row of the table: each formula and its value at n."""
    n, setting = np.array([float(numbers.n)]), numbers.setting
    return {
        _("Layer type"): translate(row.name),
        _("Complexity per layer"): f"O({row.complexity})",
        _("At n"): f"{float(row.cost_at(n, setting)[0]):,.0f}",
        _("Sequential operations"): f"O({row.sequential})",
        _("At n") + " ": f"{float(row.steps_at(n, setting)[0]):,.0f}",
        _("Maximum path length"): f"O({row.path})",
        _("At n") + "  ": f"{float(row.path_at(n, setting)[0]):,.4g}",
    }


def how_to_read() -> None:
    """Draw the help text."""
    with reading_help():
        st.markdown(
            _(
                "- A recurrent layer reads token after token, a convolution k neighbours together. Self-attention "
                "compares all pairs, so any two tokens are one step apart "
                "([arXiv:1706.03762](https://arxiv.org/abs/1706.03762), section 4).\n"
                "- Short paths help to learn long-range dependencies; few sequential operations allow parallel work.\n"
                "- The price is n².\n"
                "- The trained networks are small: they show what each layer makes easy, not what large models do."
            )
        )


def draw(choice: ViewState, trace: Trace, options: WhyAttentionOptions) -> None:
    """Draw the summary, the figures and the table of layer types."""
    try:
        with st.spinner(_("Inspecting the model")):
            model = trace.model.name if choice.opened else choice.model
            build = get_backend().inspect(Anatomy(model=model, revision=choice.revision or None))
    except UserError as refusal:
        show_error(refusal)
        return
    numbers = controls(options, build.width, len(trace.source))
    show_notice(summary(numbers), "status")
    figures(numbers)
    table(numbers)


def draw_view() -> None:
    """Draw the view Why attention in the page."""
    chosen = get_view_state()
    compose(chosen, kind_of(chosen))
    options = get_params(WhyAttentionOptions)
    found = read_trace(chosen)
    if found is not None:
        draw(chosen, found, options)
    draw_recorded(options)
    train_one(options)
    how_to_read()
