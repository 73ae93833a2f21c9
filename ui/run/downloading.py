"""Before, during and after a download: what it is and whether it fits, how far it is, and a way to stop."""

from __future__ import annotations

import streamlit as st

from inference import Refusal
from inference.files.download import Download
from inference.files.hub import Offer
from ui.run.network import failed
from ui.run.refusals import say, show
from ui.run.shelf import backend
from ui.state.choice import Choice

RUNNING = "downloads"  # by (model, revision): those this session looks at


def offer_or_show(refusal: Refusal, choice: Choice) -> None:
    """What a refusal means on the page: the download of the chosen model, else its sentence and the way out."""
    if refusal.way_out == "download":
        offer(choice, refusal.details["offer"])
    else:
        if refusal.way_out == "retry":
            failed()
        show(refusal)


def offer(choice: Choice, found: Offer) -> None:
    """Draw the offer of the chosen model, or its download where one runs."""
    key = (choice.model, choice.revision)
    running: dict[tuple[str, str], Download] = st.session_state.setdefault(RUNNING, {})
    if key in running:
        _watch(key)
        return
    say(_words(found), role="status")
    st.button(
        f"Download {found.nbytes / 1e6:,.0f} MB",
        type="primary",
        disabled=not found.fits,
        help="It can be stopped and goes on later where it was. It is kept on the disk for the next time.",
        on_click=lambda: running.update({key: backend().download(found)}),
    )


def _words(found: Offer) -> str:
    """What it is, its size, and whether it fits."""
    article = "an" if found.kind.startswith("e") else "a"
    what = f"{found.id} is {article} {found.kind} ({found.architecture}" + (f", {found.task})" if found.task else ")")
    needs = f"it takes {found.nbytes / 1e6:,.0f} MB on the disk and about {found.memory_bytes / 1e9:.1f} GB of memory"
    fits = "which this machine has" if found.fits else "more than this app may use here, so it cannot be loaded"
    return f"{what}. {len(found.files)} files; {needs}, {fits}."


@st.fragment(run_every=0.5)
def _watch(key: tuple[str, str]) -> None:
    """The running download of a model and its revision; it draws itself twice a second and the whole page once it is
    done."""
    download: Download | None = st.session_state[RUNNING].get(key)
    if download is None or download.state == "done":
        st.session_state[RUNNING].pop(key, None)
        st.rerun()
    done, total = download.progress
    st.progress(download.progress.share, text=f"{done / 1e6:,.1f} of {total / 1e6:,.1f} MB ({download.state})")
    if download.error is not None:
        say(download.error.message)
    if download.state == "running":
        st.button("Stop", on_click=download.stop, help="What has arrived is kept.")
    else:
        st.button(
            "Go on",
            on_click=download.start,  # type: ignore[arg-type]  # what it gives back is not used
            help="Continue where it was.",
        )
