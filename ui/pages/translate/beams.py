"""Beam search as a tree, with its finished beams as a table."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from typing import Any

import streamlit as st

from i18n import _, gettext_lazy, translate
from ui.input.controls import bound_widget
from ui.pages.translate.options import TranslateOptions
from ui.pages.translate.step import logs_of
from ui.pages.translate.translation import (
    BeamSearch,
    Translation,
    beam_tokens,
    beams_computation,
    beams_request,
    width_of,
)
from ui.run.notices import show_notice
from ui.show.chart import draw_notebook_menu
from ui.show.tables import csv_table, download_button, draw_table, page_provenance
from ui.show.text import join_sentences, likelihood
from ui.state.params import get_params
from viz.components.tree import tree
from viz.components.tree.tree import TreeNode

MOST_NODES = 600
TREE = "translate_tree"
FATES = {"kept": gettext_lazy("kept"), "ended": gettext_lazy("ended"), "dropped": gettext_lazy("dropped")}


def beam_tree(translation: Translation) -> None:
    """Draw the tree, a sentence about it and the finished beams; may raise UserError."""
    options = get_params(TranslateOptions)
    search = translation.search or beam_tokens(translation.asked, width_of(options))
    show_notice(summary(translation, search), "status")
    fates = [fate for fate in FATES if options.dropped or fate != "dropped"]
    nodes = nodes_of(search, fates)
    if len(nodes) > MOST_NODES:
        show_notice(_("The first {drawn} of {nodes} nodes are drawn.", drawn=MOST_NODES, nodes=len(nodes)), "status")
    best = name_of(search.best.tokens)
    tree.mount(
        nodes[:MOST_NODES],
        TREE,
        title=_("Beams"),
        current=best if any(node.id == best for node in nodes[:MOST_NODES]) else None,
        unit=_("Score"),
    )
    request = beams_request(translation.asked, width_of(options))
    scores = [node.value for node in nodes if node.value is not None]
    computation = partial(beams_computation, request, search, fates)
    width = width_of(options)
    draw_notebook_menu(_("Beams"), TREE, lambda: scores, lambda: _provenance(width), computation)
    st.caption(
        _(
            "Each step extends every beam and keeps the best; highlighted: the final best. "
            "Numbers: summed log-probabilities."
        )
    )
    bound_widget(TranslateOptions, "dropped", st.checkbox)
    _table(search, width)


def name_of(tokens: tuple[int, ...]) -> str:
    """Return the id of a node of the tree, made of the tokens on its path."""
    return "/".join(["start", *map(str, tokens)])


def nodes_of(search: BeamSearch, fates: Collection[str]) -> list[TreeNode]:
    """Return the nodes of the tree, parents first: the start and the branches with these ``fates``."""
    nodes = [TreeNode(name_of(()), None, _("start"), kind="kept")]
    parents: list[tuple[int, ...]] = [()]
    for step in search.steps:
        for branch in step.branches:
            if branch.fate not in fates:
                continue
            before = parents[branch.parent]
            note = translate(FATES[branch.fate])
            node = name_of((*before, branch.token))
            nodes.append(TreeNode(node, name_of(before), branch.piece, branch.score, branch.fate, note))
        parents = [beam.tokens for beam in step.beams]
    return nodes


def summary(translation: Translation, search: BeamSearch) -> str:
    """Return sentences with the best beam and, if it differs, the displayed translation's probability."""
    looked = sum(len(step.branches) for step in search.steps)
    best = search.best.text
    said = _(
        "{looked} continuations in {steps} steps; the best is “{best}”.",
        steps=len(search.steps),
        looked=looked,
        best=best,
    )
    if translation.way == "beam" or best.strip() == translation.text.strip():
        return said
    chance = likelihood(float(logs_of(translation).sum()))
    return join_sentences(said, _("The translation above has probability {chance}.", chance=chance))


def _provenance(width: int) -> dict[str, Any]:
    """Return the provenance of a beam search of this width."""
    return {**page_provenance(), "beam_width": width}


def _table(search: BeamSearch, width: int) -> None:
    last = search.steps[-1]
    rows = [(rank + 1, beam.text, beam.score, len(beam.tokens)) for rank, beam in enumerate(last.finished)]
    if not rows:
        return
    names = (gettext_lazy("Rank"), gettext_lazy("Translation"), gettext_lazy("Score"), gettext_lazy("Tokens"))
    columns = {translate(name): [row[place] for row in rows] for place, name in enumerate(names)}
    draw_table(columns, key="translate_beams_table")
    st.caption(
        _(
            "Score: summed log-probabilities over a power of the length "
            "([arXiv:1609.08144](https://arxiv.org/abs/1609.08144))."
        )
    )
    download_button(
        _("Save as CSV"), csv_table(names, rows), "headlight-beams.csv", _("All digits"), provenance=_provenance(width)
    )
