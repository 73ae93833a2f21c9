"""Changes of a step of the forward pass, such as zeroing a vector, with the output before and after."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from attention.comparison import align
from attention.edits import Ablate, Pairs, PatchHead, paired_tokens
from attention.view import View
from i18n import _, gettext_lazy
from inference import TraceRequest, UserError
from inference.tasks.whole_pass import (
    ATTENTION,
    CROSS,
    EMBEDDINGS,
    PROBABILITIES,
    WEIGHED,
    ChangeRequest,
    ChangeResult,
    End,
    Stage,
)
from ui.input.controls import bound_widget, read_number
from ui.input.unknown_words import require_readable
from ui.pages.whole_pass.inspector import CHANGES, PassInspector, WholePassOptions
from ui.pages.whole_pass.names import place, stage_name
from ui.pages.whole_pass.numbers import StageValues, end_row, output_title
from ui.run.notices import show_error, show_notice
from ui.run.services import get_backend
from ui.show.chart import About, draw_chart, theme
from ui.show.tables import download_button, draw_table, frame_csv
from ui.state.params import set_params
from viz.figures.token_bars import bars
from viz.paper.notebook import Computation


def pairs_of(asked: PassInspector, side: str, rows: int, lender: str, row: int | None) -> Pairs:
    """Return pairs of rows (recipient, donor) for patching a stage whose result has ``rows`` rows.

    ``lender`` is the donor text. If a row is a token, it is paired with the aligned word of the donor text. Other rows,
    and the rows of the decoder in an encoder-decoder model, are paired by number. If ``row`` is given, only its pair is
    returned. Raise UserError if no pair is left.
    """
    tokens = asked.tokens(side)
    written = asked.two and side == "decoder"  # both passes read the same target tokens
    pairs = _words(asked, lender) if rows == len(tokens) and not written else tuple((at, at) for at in range(rows))
    mine = pairs if row is None else tuple(pair for pair in pairs if pair[0] == row)
    if not mine:
        raise UserError(
            gettext_lazy(
                "“{token}” (token {row}) has no aligned word in the donor text. Choose another.",
                token=tokens[row or 0],
                row=row or 0,
            ),
            way_out="text",
        )
    return mine


def _words(asked: PassInspector, lender: str) -> Pairs:
    """Return the positions (recipient, donor) of tokens in aligned words."""
    request = asked.request
    lending = TraceRequest(
        model=request.model, revision=request.revision, text=lender, pair=request.pair, cut=request.cut
    )
    other = require_readable(get_backend().trace(lending))
    part = "encoder" if asked.two else None
    views = View(asked.trace, part, words=True), View(other, part, words=True)
    return tuple(pair for word in paired_tokens(*views, align(*views)[0]) for pair in word)


def striking_change(asked: PassInspector) -> tuple[str, int] | None:
    """Return the label and the stage of a suggested ablation, or None if the model has no suitable stage.

    It zeroes the position embeddings or, if the model adds none, the attention output of the first layer.
    """
    stages = asked.result.stages
    for at, stage in enumerate(stages):
        if stage.part == EMBEDDINGS and "position" in stage.role:
            return _("Zero position embeddings"), at
    mine = [at for at, stage in enumerate(stages) if stage.part == ATTENTION]
    if not mine:
        return None
    first = [at for at in mine if (stages[at].side, stages[at].layer) == (stages[mine[0]].side, stages[mine[0]].layer)]
    where = place(stages[mine[0]], asked.two)
    return _("Zero attention, {where}", where=where), first[-1]


def preset(asked: PassInspector) -> None:
    """Draw a button that applies the suggested change of the pass and stores it in the address."""
    found = striking_change(asked)
    if found is not None:
        st.button(
            found[0],
            key="pass_preset",
            icon=":material/science:",
            on_click=set_params,
            args=(WholePassOptions,),
            kwargs={
                "stage": found[1],
                "column": None,
                "zoom": "stage",
                "change": "stage",
                "becomes": "0",
                "lender": "",
            },
            help=_("Changes the stage, runs the rest and compares outputs"),
        )


def change(asked: PassInspector, stage: Stage, options: WholePassOptions, found: StageValues) -> None:
    """Draw the widgets that change the result of ``stage``, and the model's output before and after the change."""
    changes = [one for one in CHANGES if one != "head" or stage.role == WEIGHED]
    kind = options.change if options.change in changes else ""
    bound_widget(WholePassOptions, "change", st.segmented_control, options=changes, shown=kind, required=True)
    if not kind:
        return
    middle, right = st.columns([1, 2], vertical_alignment="bottom")
    bound_widget(WholePassOptions, "becomes", middle.text_input)
    bound_widget(WholePassOptions, "lender", right.text_input)
    at = end_row(asked, asked.result.stages[-1].side, found.row)
    try:
        with st.spinner(_("Running the model")):
            asked_for = _requested_change(asked, stage, options, found)
            request = asked.change_request(at, **asked_for)
            followed = asked.run_changed(request)
    except UserError as refusal:
        show_error(refusal)
        return
    _draw_outcome(asked, request, followed, _describe_change(asked_for, followed, len(found.values)))


def _requested_change(
    asked: PassInspector, stage: Stage, options: WholePassOptions, found: StageValues
) -> dict[str, Any]:
    """Return the keyword arguments of the ChangeRequest.

    Raise UserError if the value is not a number, no donor token is aligned, or a head is set to a value other than
    0.
    """
    lender, kind = options.lender.strip(), options.change
    row = None if kind in ("stage", "head") else found.row
    pairs = pairs_of(asked, stage.side, len(found.values), lender, row) if lender else ()
    if kind != "head":
        column = found.column if kind == "number" else None
        where = {"stage": stage.number, "row": row, "column": column, "pairs": pairs}
        return {**where, "lender": lender, "to": 0.0 if lender else read_number(options.becomes)}
    if not lender and read_number(options.becomes):
        raise UserError(gettext_lazy("Write 0 to ablate a head, or a donor text to patch it."))
    layer, part = stage.layer or 0, ("cross" if stage.part == CROSS else stage.side) if asked.two else ""
    head = found.column // found.shape[-1]
    edit = PatchHead(layer, head, pairs, part) if lender else Ablate(layer, head, part)
    return {"edits": (edit,), "lender": lender}


def _describe_change(asked_for: dict[str, Any], followed: ChangeResult, rows: int) -> str:
    """Return a sentence on the number of changed values, or on the ablated or patched head.

    ``rows`` is the number of tokens.
    """
    (edit,) = asked_for.get("edits", (None,))
    if edit is None and asked_for["row"] is None and asked_for["lender"]:
        return _(
            "{changed:,} values patched, at {taken} of {tokens} tokens with an aligned token.",
            changed=followed.changed,
            taken=len(asked_for["pairs"]),
            tokens=rows,
        )
    if edit is None:
        return _("{changed:,} values changed.", changed=followed.changed)
    head = f"{edit.layer}-{edit.head}"
    if isinstance(edit, Ablate):
        return _("Head {head} ablated.", head=head)
    taken = len(edit.pairs)
    return _(
        "Head {head} patched at {taken} of {tokens} tokens.",
        head=head,
        taken=taken,
        tokens=rows,
    )


def _draw_outcome(asked: PassInspector, request: ChangeRequest, found: ChangeResult, what: str) -> None:
    """Draw the output before and after the change: a sentence, bar charts and a table.

    ``what`` is the sentence that describes the change.
    """
    last = asked.result.stages[-1]
    before, after = found.ends[0], max(found.ends, key=lambda end: end.after)
    show_notice(
        _(
            "{what} {output}: “{before}” {chance:.3f} becomes “{after}” {later:.3f}. Largest change of an output: "
            "{moved:.3g}.",
            what=what,
            output=output_title(asked, request.at),
            before=before.name,
            chance=before.before,
            after=after.name,
            later=after.after,
            moved=found.moved,
        ),
        role="status",
    )
    unit = _("Probability") if last.part == PROBABILITIES else _("Number")
    provenance = partial(_provenance, asked, request)
    _draw_bars(found.ends, unit, request, provenance)
    table = pd.DataFrame(
        {
            _("Output"): [end.name for end in found.ends],
            _("Before"): [end.before for end in found.ends],
            _("After"): [end.after for end in found.ends],
        }
    )
    draw_table(table, key="pass_ends")
    undo, saved = st.columns(2)
    undo.button(
        _("Undo change"),
        key="pass_undo",
        icon=":material/undo:",
        on_click=set_params,
        args=(WholePassOptions,),
        kwargs={"change": ""},
    )
    about = _("All digits")
    written = frame_csv(table)
    download_button(_("Save as CSV"), written, "changed.csv", about, provenance=provenance(), place=saved)


def _provenance(asked: PassInspector, request: ChangeRequest) -> dict[str, Any]:
    """Return the provenance of outputs before and after a change; rows and columns of a stage's result count from 0."""
    changed: dict[str, Any] = {"edits": list(map(repr, request.edits))}
    if not request.edits:
        stage = next(stage for stage in asked.result.stages if stage.number == request.stage)
        changed = {"changed_stage": stage_name(stage), "row": request.row, "column": request.column}
        if request.lender:
            changed["rows_from_second_text"] = list(map(str, request.pairs))
        else:
            changed["new_value"] = request.to
    if request.lender:
        changed["second_text"] = request.lender
    found = asked.provenance(**changed, output_row=request.at)
    return {name: one for name, one in found.items() if one is not None}


def _draw_bars(ends: Sequence[End], unit: str, request: ChangeRequest, about: About) -> None:
    """Draw the outputs before and after as two bar charts with the same order and range.

    ``request`` is the request that gives them, and ``about`` returns their provenance.
    """
    most = max(max(end.before, end.after) for end in ends)
    names = [end.name for end in ends]
    sides = (
        ("before", _("Before"), [end.before for end in ends]),
        ("after", _("After"), [end.after for end in ends]),
    )
    for column, (key, title, values) in zip(st.columns(2), sides, strict=True):
        best = max(range(len(values)), key=values.__getitem__)
        figure = bars(names, values, theme(), title, unit, marked=(best,))
        figure.update_xaxes(range=[min(0, *values), 1.15 * most or 1])
        code = f"numbers = [end.{key} for end in backend.inspect(request).ends]"
        draw_chart(figure, f"pass_{key}", place=column, about=about, computation=Computation(code, request=request))
