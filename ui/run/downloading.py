"""The offer to download a model, with its size, and the progress of a running download."""

from __future__ import annotations

import streamlit as st

from i18n import _, gettext_lazy
from inference import UserError
from inference.files.download import Download
from inference.files.hub import Offer
from inference.files.packages import FETCH, MAKE
from ui.paths import ROOT
from ui.run.network import note_hub_failure
from ui.run.notices import show_error, show_notice
from ui.run.redrawing import redraw_every
from ui.run.services import get_backend
from ui.show.text import join_sentences
from ui.state.view_state import ViewState

RUNNING = "downloads"  # Session key of this session's downloads, by (model, revision).
STATES: dict[str, str] = {  # States of an incomplete download.
    "new": gettext_lazy("not begun"),
    "running": gettext_lazy("running"),
    "stopped": gettext_lazy("stopped"),
    "failed": gettext_lazy("failed"),
}
KINDS: dict[str, str] = {
    "encoder": gettext_lazy("{model} is an encoder ({details})."),
    "decoder": gettext_lazy("{model} is a decoder ({details})."),
    "encoder-decoder": gettext_lazy("{model} is an encoder-decoder ({details})."),
}


def offer_or_show(refusal: UserError, choice: ViewState) -> None:
    """Draw the offer to download a model if the error calls for it, else the error with its remedy."""
    if refusal.way_out == "download":
        draw_offer(choice, refusal.details["offer"])
    else:
        if refusal.way_out == "retry":
            note_hub_failure()
        show_error(refusal)


def show_command() -> None:
    """Show the command that installs models without the hub."""
    st.code(MAKE if (ROOT / "Makefile").is_file() else FETCH, language=None)


def draw_offer(choice: ViewState, found: Offer) -> None:
    """Draw the offer to download a model, or the progress of its download if it is running."""
    key = (choice.model, choice.revision)
    running: dict[tuple[str, str], Download] = st.session_state.setdefault(RUNNING, {})
    if key in running:
        redraw_every(0.5, _watch, key)
        return
    show_notice(_describe_offer(found), role="status")
    st.button(
        _("Download {megabytes:,.0f} MB", megabytes=found.nbytes / 1e6),
        type="primary",
        disabled=not found.fits,
        help=_("You can stop and resume it. It stays on disk."),
        on_click=lambda: running.update({key: get_backend().download(found)}),
    )


def _describe_offer(found: Offer) -> str:
    """Return sentences about the model, its size, and its fit into memory."""
    details = ", ".join(filter(None, (found.architecture, found.task)))
    needs = _(
        "{files} files: {megabytes:,.0f} MB on disk, about {gigabytes:.1f} GB of memory ({fits}).",
        files=len(found.files),
        megabytes=found.nbytes / 1e6,
        gigabytes=found.memory_bytes / 1e9,
        fits=_("available") if found.fits else _("more than allowed"),
    )
    return join_sentences(_(KINDS[found.kind], model=found.id, details=details), needs)


def _watch(key: tuple[str, str]) -> None:
    """Draw a model's download, updated twice a second; rerun the page when it is complete."""
    download: Download | None = st.session_state[RUNNING].get(key)
    if download is None or download.state == "done":
        st.session_state[RUNNING].pop(key, None)
        st.rerun()
    done, total = download.progress
    st.progress(
        download.progress.share,
        text=_(
            "{done:,.1f} of {total:,.1f} MB ({state})", done=done / 1e6, total=total / 1e6, state=STATES[download.state]
        ),
    )
    if download.error is not None:
        show_notice(download.error.message)
    if download.state == "running":
        st.button(_("Stop"), on_click=download.stop, help=_("Completed work is kept"))
    else:
        st.button(
            _("Go on"),
            on_click=download.start,  # type: ignore[arg-type]  # the returned value is unused
            help=_("Continue where it was"),
        )
