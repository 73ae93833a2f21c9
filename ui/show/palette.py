"""The search palette for pages, settings, help and terms, which Ctrl+K opens on every page."""

from __future__ import annotations

from collections.abc import Iterator

import streamlit as st

from i18n import ENGLISH, _, active_language, available_languages, gettext_lazy, language_name, translate
from inference.catalogue.listing import ModelCard
from lessons.library import come_along
from lessons.library import tour as its_stops
from lessons.schema import LocalizedText
from lessons.steps import markdown_of
from ui.run.services import get_backend
from ui.show import tour
from ui.show.terms import FOR_TEACHERS, TERMS, VIEW_ALIASES
from ui.show.views import go_to_view
from ui.state.navigation import BY_VIEW, PAGES
from ui.state.session import change_language, change_model, get_view_state, set_view_state
from viz.components.palette import palette
from viz.components.palette.palette import PaletteEntry
from viz.paper.notebook import citation, version

KEY = "palette"
OPENED = "palette_view"  # Session key of the picked view, lesson or tour, which the next lines of the script open.
TOUR = "tour"
LESSON = "lesson:"  # Beginning of the ids of lessons.
PROJECTOR = "projector"  # Id of the projector view, which palette.js switches itself.

# Fields of the view state that an entry switches on or off, with their titles.
SWITCHES = {
    "words": (gettext_lazy("Show whole words"), gettext_lazy("Show tokens")),
    "special": (gettext_lazy("Show special tokens"), gettext_lazy("Hide special tokens")),
}
HELP = {
    gettext_lazy("Help: install"): gettext_lazy(
        "make run; without make: pip install -r requirements.txt, then streamlit run app.py."
    ),
    gettext_lazy("Help: offline use"): gettext_lazy("Once installed, only models of the hub need the internet."),
    gettext_lazy("Help: class"): gettext_lazy(
        "Start with make run FOR=class or headlight serve; students open the link on Class, also offline."
    ),
    gettext_lazy("Help: for teachers"): FOR_TEACHERS,
    gettext_lazy("Help: worksheet"): gettext_lazy("Below each step of a lesson, for screen or paper."),
    gettext_lazy("Help: save image, copy link"): gettext_lazy(
        "Download, above a figure, exports it as an image; Copy link, above the text, restores the view."
    ),
    gettext_lazy("Help: notebook"): gettext_lazy("In the menu Download of many charts; it recomputes their numbers."),
}


def entries() -> list[PaletteEntry]:
    """Return the entries of the palette in the active language: pages, tabs, lessons, settings, help, terms."""
    return [
        *_views(),
        *_lessons(),
        *_settings(),
        *_help(),
        _tour(),
        *_terms(),
    ]


def _views() -> Iterator[PaletteEntry]:
    for page in PAGES:
        for view, title in page.views.items():
            several = len(page.views) > 1
            yield PaletteEntry(
                f"view:{view}",
                "page",
                translate(title if several else page.title),
                translate(page.title) if several else "",
                f"{title if several else page.title} {VIEW_ALIASES.get(view, '')}",
            )


def _lessons() -> Iterator[PaletteEntry]:
    for name, lesson in come_along().items():
        note, aliases = _("Lessons"), _in_english(lesson.title)
        yield PaletteEntry(f"{LESSON}{name}", "page", markdown_of(lesson.title), note, aliases)


def _in_english(said: LocalizedText) -> str:
    return said.in_language(ENGLISH)


def _tour() -> PaletteEntry:
    title = its_stops().title
    aliases = f"{tour.BUTTON} {_in_english(title)} guide introduction"
    return PaletteEntry(TOUR, "help", translate(tour.BUTTON), markdown_of(title), aliases)


def _settings() -> Iterator[PaletteEntry]:
    choice = get_view_state()
    for field, (on, off) in SWITCHES.items():
        yield PaletteEntry(f"switch:{field}", "setting", translate(off if getattr(choice, field) else on))
    for card in _other_models():
        yield PaletteEntry(f"model:{card.id}", "setting", translate(card.title), _("Model"), f"{card.id} model")
    for code in available_languages():
        if code != active_language():
            yield PaletteEntry(f"language:{code}", "setting", language_name(code), _("Language"))
    large = _("1.6 times as large, without sidebar. P or Escape leaves.")
    yield PaletteEntry(PROJECTOR, "setting", _("Projector (P)"), large, "projector view beamer")


def _other_models() -> list[ModelCard]:
    """Return the models on this machine that could be selected instead of the present one."""
    present = get_view_state().model
    return [card for card in get_backend().models() if card.downloaded and card.id != present]


def _help() -> Iterator[PaletteEntry]:
    """Yield what users look for outside the pages; the explanation in the list is the answer."""
    for title, note in HELP.items():
        yield PaletteEntry("", "help", translate(title), translate(note))
    about = _("{version}. Its code has no licence yet; models and data have their own.", version=version())
    yield PaletteEntry("", "help", _("Help: about, licence"), about)
    yield PaletteEntry("", "help", _("Help: cite"), " ".join(citation().split()))


def _terms() -> Iterator[PaletteEntry]:
    """Yield the terms of the glossary; a picked term opens the view that shows it best, named after its note."""
    for at, term in enumerate(TERMS):
        shown = f"{translate(term.note)} → {translate(BY_VIEW[term.view].views[term.view])}"
        yield PaletteEntry(f"term:{at}", "term", translate(term.title), shown, f"{term.title} {term.aliases}")


def draw_palette() -> None:
    """Draw the search palette (Ctrl+K), and open the page or tab that was picked in it."""
    palette.mount(entries(), KEY, _pick)
    view = st.session_state.pop(OPENED, None)
    if view == TOUR:
        tour.go_to_stop(0)
    elif view is not None and view.startswith(LESSON):
        go_to_view("lessons", {"lesson": view.removeprefix(LESSON)})
    elif view is not None:
        go_to_view(view, {})


def _pick() -> None:
    """Carry out the picked entry; a view is opened in the run that follows."""
    kind, _sep, name = str(st.session_state[KEY].picked or "").partition(":")
    if kind == TOUR:
        st.session_state[OPENED] = TOUR
    elif kind == "view":
        st.session_state[OPENED] = name
    elif f"{kind}:" == LESSON and name in come_along():
        st.session_state[OPENED] = f"{LESSON}{name}"
    elif kind == "term" and name.isdecimal() and int(name) < len(TERMS):
        st.session_state[OPENED] = TERMS[int(name)].view
    elif kind == "switch" and name in SWITCHES:
        set_view_state(**{name: not getattr(get_view_state(), name)})
    elif kind == "model" and name in {card.id for card in _other_models()}:
        change_model(name)
    elif kind == "language" and name in available_languages():
        change_language(name)
