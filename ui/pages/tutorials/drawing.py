"""Layout of a tutorial: all stations first, then each model's results as they are computed."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from i18n import _, translate
from inference import UserError
from ui.pages.tutorials.options import TutorialsOptions
from ui.pages.tutorials.station import Station, StationLink
from ui.run.notices import show_error, show_notice
from ui.show.views import link_to_view
from ui.state.view_state import ViewState


def draw(stations: Sequence[Station], choice: ViewState, options: TutorialsOptions) -> None:
    """Draw all stations, then compute and fill in their results in order, so that reading can start early."""
    places = [_station(number, station, choice, options) for number, station in enumerate(stations, start=1)]
    for station, place in zip(stations, places, strict=True):
        if station.shows is None:
            continue
        with place:
            try:
                with st.spinner(_("Asking the model")):
                    said = station.shows(choice, options)
            except UserError as refusal:
                show_error(refusal)
            else:
                show_notice(said, role="status")


def _station(
    number: int, station: Station, choice: ViewState, options: TutorialsOptions
) -> st.delta_generator.DeltaGenerator:
    """Draw a station's text, links and control, and return the container for its result."""
    st.subheader(f"{number}. {translate(station.title)}")
    left, right = st.columns([1, 1], gap="medium")
    with left:
        st.markdown(translate(station.text))
        with st.container(horizontal=True):
            for link in station.links:
                _link(link, choice)
    with right:
        if station.shows is not None:
            st.markdown(_("**Often told:** {often}  \n**Shown here:**", often=station.often))
        place = st.container()
        if station.control is not None:
            station.control(options)
    return place


def _link(link: StationLink, choice: ViewState) -> None:
    query = link.query(choice)
    if query is not None:
        link_to_view(
            link.page,
            translate(link.label),
            icon=":material/arrow_forward:",
            query=query,
        )
