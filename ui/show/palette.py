"""The search palette for pages, settings, help and terms, which Ctrl+K opens on every page."""

from __future__ import annotations

from collections.abc import Iterator

import streamlit as st

from i18n import _, active_language, available_languages, gettext_lazy, language_name, translate
from ui.show.views import go_to_view
from ui.state.navigation import PAGES
from ui.state.session import change_language, get_view_state, set_view_state
from viz.components.palette import palette
from viz.components.palette.palette import PaletteEntry
from viz.paper.notebook import citation, version

KEY = "palette"
OPENED = "palette_view"  # Session key of the picked view, which the next lines of the script open.

# Fields of the view state that an entry switches on or off, with their titles.
SWITCHES = {
    "words": (gettext_lazy("Show whole words"), gettext_lazy("Show tokens")),
    "special": (gettext_lazy("Show special tokens"), gettext_lazy("Hide special tokens")),
}
TERMS = {
    gettext_lazy("Attention weight"): gettext_lazy(
        "Share of a token's attention to another token; a row's weights sum to 1."
    ),
    gettext_lazy("Attention head"): gettext_lazy(
        "One of a layer's parallel attention computations, with its own weights."
    ),
    gettext_lazy("Layer"): gettext_lazy("Attention and a feed-forward network; models stack several."),
    gettext_lazy("Query, key, value"): gettext_lazy(
        "Vectors of a token: queries are compared with keys; the result mixes the values."
    ),
    gettext_lazy("Softmax"): gettext_lazy("Turns scores into positive weights that sum to 1."),
    gettext_lazy("Token"): gettext_lazy("A word or part of a word, the unit of a model's text."),
    gettext_lazy("Special token"): gettext_lazy(
        "A token added by the tokenizer, such as [CLS]; it often receives much attention."
    ),
    gettext_lazy("Self-attention and cross-attention"): gettext_lazy(
        "Attention within a text, and from a translation to its source."
    ),
    gettext_lazy("Causal mask"): gettext_lazy("Hides later tokens, so that tokens attend only to earlier ones."),
    gettext_lazy("Embedding"): gettext_lazy("The vector of a token before the first layer."),
    gettext_lazy("Positional encoding"): gettext_lazy("Numbers that encode the order of tokens."),
    gettext_lazy("Residual stream"): gettext_lazy("A token's vector, to which each layer adds its output."),
    gettext_lazy("Layer normalisation"): gettext_lazy("Rescales a vector to mean 0 and variance 1."),
    gettext_lazy("Feed-forward network"): gettext_lazy("Two matrices of a layer that change each token alone."),
    gettext_lazy("Logit"): gettext_lazy("A score before the softmax."),
    gettext_lazy("Weight above baseline"): gettext_lazy(
        "The weight minus the larger of column mean and positional prior."
    ),
    gettext_lazy("Attention sink"): gettext_lazy("A token, often the first, that receives weight without meaning."),
    gettext_lazy("Entropy"): gettext_lazy("Spread of a token's attention; 0 if all goes to one token."),
    gettext_lazy("Ablation"): gettext_lazy("Zeroing a head's output to measure how the answer changes."),
    gettext_lazy("Activation patching"): gettext_lazy(
        "Replacing an activation by another text's to locate a difference."
    ),
    gettext_lazy("Attribution method"): gettext_lazy("A rule that divides an output among input words."),
    gettext_lazy("Surprisal"): gettext_lazy("The negative logarithm of a token's probability, in bits."),
    gettext_lazy("Beam search"): gettext_lazy("Keeps the most probable partial texts at each step."),
    gettext_lazy("Temperature"): gettext_lazy("Divides the logits before sampling; higher: more varied."),
    gettext_lazy("Key–value cache"): gettext_lazy("Stored keys and values of earlier tokens, to save computing."),
    gettext_lazy("Fine-tuning"): gettext_lazy("Training a model further on labelled examples."),
}
HELP = {
    gettext_lazy("Help: install"): gettext_lazy(
        "make run; without make: pip install -r requirements.txt, then streamlit run app.py."
    ),
    gettext_lazy("Help: offline use"): gettext_lazy("Once installed, only models of the hub need the internet."),
    gettext_lazy("Help: class"): gettext_lazy(
        "Start with make run FOR=class or headlight serve; students open the link on Class, also offline."
    ),
    gettext_lazy("Help: worksheet"): gettext_lazy("Below each step of a lesson, for the screen or for paper."),
    gettext_lazy("Help: notebook"): gettext_lazy(
        "In the menu Download of many charts; it computes their numbers again."
    ),
}


def entries() -> list[PaletteEntry]:
    """Return the entries of the palette in the active language: pages with their tabs, settings, help, terms."""
    return [
        *_views(),
        *_settings(),
        *_help(),
        *(PaletteEntry("", "term", translate(t), translate(n)) for t, n in TERMS.items()),
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
            )


def _settings() -> Iterator[PaletteEntry]:
    choice = get_view_state()
    for field, (on, off) in SWITCHES.items():
        yield PaletteEntry(f"switch:{field}", "setting", translate(off if getattr(choice, field) else on))
    for code in available_languages():
        if code != active_language():
            yield PaletteEntry(f"language:{code}", "setting", language_name(code), _("Language"))


def _help() -> Iterator[PaletteEntry]:
    """Yield what users look for outside the pages; the explanation in the list is the answer."""
    for title, note in HELP.items():
        yield PaletteEntry("", "help", translate(title), translate(note))
    about = _("{version}. Its code has no licence yet; models and data have their own.", version=version())
    yield PaletteEntry("", "help", _("Help: about, licence"), about)
    yield PaletteEntry("", "help", _("Help: cite"), " ".join(citation().split()))


def draw_palette() -> None:
    """Draw the search palette (Ctrl+K), and open the page or tab that was picked in it."""
    palette.mount(entries(), KEY, _pick)
    view = st.session_state.pop(OPENED, None)
    if view is not None:
        go_to_view(view, {})


def _pick() -> None:
    """Carry out the picked entry; a view is opened in the run that follows."""
    kind, _sep, name = str(st.session_state[KEY].picked or "").partition(":")
    if kind == "view":
        st.session_state[OPENED] = name
    elif kind == "switch" and name in SWITCHES:
        set_view_state(**{name: not getattr(get_view_state(), name)})
    elif kind == "language" and name in available_languages():
        change_language(name)
