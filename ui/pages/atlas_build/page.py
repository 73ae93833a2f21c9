"""The view Build atlas: its texts, model and number of tokens, the progress of a build, and the visitor's atlases."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import streamlit as st

from i18n import _, gettext_lazy, translate
from inference import EMBEDDED, UserError
from probing.atlas.texts import SUFFIXES
from training.jobs.atlas_builds import DEFAULT_TOKENS, MOST_TOKENS, AtlasBuildStatus
from ui.input.controls import bound_widget
from ui.input.model_chip import pick_model
from ui.pages.atlas_build.routes import address
from ui.run.fine_tuning import visitor
from ui.run.notices import show_notice
from ui.run.redrawing import redraw_every
from ui.run.services import atlas_builds
from ui.show.views import link_to_view
from ui.state.params import get_params, set_params
from viz.options import option

EVERY = 2.0  # In seconds: the interval between two updates of the fragment.
FILES, PROBLEM = "atlas_build_files", "atlas_build_problem"
PHASES = {
    "texts": gettext_lazy("Reading texts: {done:,} tokens"),
    "random": gettext_lazy("Random weights: {done:,} tokens"),
    "relations": gettext_lazy("Gold relations: {done:,} sentences"),
}


@dataclass(frozen=True)
class AtlasBuildOptions:
    """Options of the view Build atlas, as they appear in its address."""

    build: str = ""  # The id of a build; "" shows the form.
    start: str = EMBEDDED  # The model.
    start_revision: str = ""
    tokens: int = option(
        DEFAULT_TOKENS,
        label=gettext_lazy("Tokens"),
        help=gettext_lazy("The maximum; 50,000 tokens take about a minute, a million about ten."),
    )


def draw_view() -> None:
    """Draw the view Build atlas in the page."""
    options = get_params(AtlasBuildOptions)
    if problem := st.session_state.pop(PROBLEM, ""):
        show_notice(problem)
    if options.build:
        try:
            _draw_build(atlas_builds().look(options.build))
        except UserError as refusal:
            show_notice(refusal.message)
            _draw_form(options)
    else:
        _draw_form(options)
    _draw_own(options.build)


def _draw_form(options: AtlasBuildOptions) -> None:
    """Draw the controls of a new atlas."""
    left, right = st.columns(2)
    with left:
        pick_model(
            "atlas_build",
            options.start,
            options.start_revision,
            lambda name, its: set_params(AtlasBuildOptions, start=name, start_revision=its),
        )
        shown = min(max(1_000, options.tokens), MOST_TOKENS)
        bound_widget(
            AtlasBuildOptions,
            "tokens",
            st.number_input,
            shown=shown,
            min_value=1_000,
            max_value=MOST_TOKENS,
            step=1_000,
        )
    with right:
        uploaded = st.file_uploader(
            _("Texts"),
            accept_multiple_files=True,
            key=FILES,
            max_upload_size=50,
            help=_(
                "At most 50 MB together; the first 1,000,000 tokens are read: {endings}.", endings=" ".join(SUFFIXES)
            ),
        )
    st.button(
        _("Build atlas"), type="primary", disabled=not uploaded, on_click=_start, help=_("Runs in the background.")
    )


def _start() -> None:
    """Start the build that the controls describe, and show its progress."""
    options = get_params(AtlasBuildOptions)
    files = [(file.name, file.getvalue()) for file in st.session_state.get(FILES) or ()]
    try:
        build = atlas_builds().start(visitor(), options.start, options.start_revision or None, options.tokens, files)
    except UserError as refusal:
        st.session_state[PROBLEM] = refusal.message
        return
    set_params(AtlasBuildOptions, build=build.id)


def _draw_build(look: AtlasBuildStatus) -> None:
    """Draw the progress of a build, its buttons, and the links to its atlas."""
    with st.container(horizontal=True, vertical_alignment="center"):
        show_notice(look.build.title, role="status")
        st.button(_("New atlas"), on_click=set_params, args=(AtlasBuildOptions,), kwargs={"build": ""})
    every = EVERY if look.state == "running" else None
    redraw_every(every, _watch, look.build.id, look.state)
    if look.has_atlas and look.state != "running":
        with st.container(horizontal=True):
            link_to_view("head_atlas", _("Open"), icon=":material/map:", query={"atlas": look.build.id})
            link_to_view("atlas_search", _("Word pairs"), icon=":material/search:", query={"atlas": look.build.id})
            st.link_button(_("Save atlas (zip)"), address(look), icon=":material/download:")


def _watch(build_id: str, before: str) -> None:
    """Draw the present state of a build; rerun the whole page if it has ended."""
    try:
        look = atlas_builds().look(build_id)
    except UserError:
        st.rerun()
    if look.state != before:
        st.rerun()
    mine = look.build.owner == visitor()
    with st.container(horizontal=True, vertical_alignment="center"):
        if look.state == "running":
            step = look.step
            share = min(1.0, step.done / step.total) if step.total else 0.0
            st.progress(share, text=_(PHASES.get(step.phase, PHASES["texts"]), done=step.done))
        else:
            show_notice(_describe_end(look), role="alert" if look.state == "failed" else "status")
        if not mine:
            return
        if look.state == "running":
            st.button(_("Stop"), on_click=_ask, args=(atlas_builds().stop, build_id), help=_("Completed work is kept"))
            return
        if look.state == "stopped":
            st.button(_("Go on"), type="primary", on_click=_ask, args=(atlas_builds().go_on, build_id))
        st.button(_("Remove"), icon=":material/delete:", on_click=_remove, args=(build_id,))


def _describe_end(look: AtlasBuildStatus) -> str:
    """Return a sentence on a build that is not running."""
    if look.state == "done":
        return _("The atlas is finished.")
    if look.state == "failed":
        return translate(look.said)
    return _("Stopped. The atlas holds the texts read so far.") if look.has_atlas else _("Stopped.")


def _draw_own(shown: str) -> None:
    """Draw links to the visitor's other builds."""
    others = [look for look in atlas_builds().builds_of(visitor()) if look.build.id != shown]
    if others:
        st.caption(_("Your atlases"))
    for look in others:
        st.button(
            look.build.title,
            key=f"atlas_build_{look.build.id}",
            on_click=set_params,
            args=(AtlasBuildOptions,),
            kwargs={"build": look.build.id},
        )


def _remove(build_id: str) -> None:
    _ask(atlas_builds().remove, build_id)
    set_params(AtlasBuildOptions, build="")


def _ask(what: Callable[[str], None], build_id: str) -> None:
    """Call a method of the builds; keep its UserError for the next drawing of the page."""
    try:
        what(build_id)
    except UserError as refusal:
        st.session_state[PROBLEM] = refusal.message
