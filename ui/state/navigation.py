"""The pages of the app, their groups and views, and the addresses of earlier versions.

A page has an address, a file in `pages/`, and at least one view. If a page has several views, they are tabs. The query
field `view` then names the shown view, unless it is the first. A view has the name of its folder in `ui/pages/`.
Lessons, links and options refer to views and not to pages, so that a view can move to another page.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlencode

from i18n import gettext_lazy

FIELD = "view"  # Name of the query field.


@dataclass(frozen=True)
class AppPage:
    """A page of the app: its file in `pages/`, title and icon, and the titles of its views by name."""

    file: str
    title: str
    icon: str
    views: Mapping[str, str]
    address: str | None = None  # The file's name if None; "" for the home page.
    chart_views: tuple[str, ...] = ()  # The views whose first figure is a Plotly chart, whose script is preloaded.

    @property
    def path(self) -> str:
        """Return the address of the page, without a slash."""
        return self.file if self.address is None else self.address

    @property
    def first(self) -> str:
        """Return the name of the page's first view, which is shown if the address names no view."""
        return next(iter(self.views))


GROUPS: dict[str, tuple[AppPage, ...]] = {
    gettext_lazy("Explore"): (
        AppPage(
            "attention_heads",
            gettext_lazy("Attention heads"),
            "grid_view",
            {
                "explore": gettext_lazy("All heads"),
                "find": gettext_lazy("Which head links two words?"),
                "break_head": gettext_lazy("Break the head"),
                "bertviz_views": gettext_lazy("BertViz"),
            },
            address="",
            chart_views=("find",),
        ),
        AppPage(
            "compare",
            gettext_lazy("Compare"),
            "compare",
            {"compare": gettext_lazy("Side by side"), "similarity": gettext_lazy("Similarity")},
            chart_views=("compare",),
        ),
        AppPage("image_attention", gettext_lazy("Image attention"), "image", {"pictures": gettext_lazy("Pictures")}),
    ),
    gettext_lazy("Learn"): (
        AppPage(
            "lessons",
            gettext_lazy("Lessons"),
            "cast_for_education",
            {"lessons": gettext_lazy("Lessons")},
        ),
        AppPage(
            "step_by_step",
            gettext_lazy("Attention step by step"),
            "stairs",
            {"step_by_step": gettext_lazy("One attention weight"), "by_hand": gettext_lazy("Toy example")},
        ),
        AppPage(
            "transformer",
            gettext_lazy("Inside the Transformer"),
            "view_agenda",
            {
                "block": gettext_lazy("Layers and blocks"),
                "whole_pass": gettext_lazy("Forward pass"),
                "why_attention": gettext_lazy("Why attention?"),
            },
            chart_views=("why_attention",),
        ),
        AppPage(
            "tokens",
            gettext_lazy("Tokens & embeddings"),
            "scatter_plot",
            {
                "tokens": gettext_lazy("Tokens"),
                "positions": gettext_lazy("Positional encoding"),
                "vectors": gettext_lazy("Word vectors"),
            },
            chart_views=("vectors",),
        ),
    ),
    gettext_lazy("Predict"): (
        AppPage(
            "fill_in_the_blank",
            gettext_lazy("Fill in the blank (BERT)"),
            "border_color",
            {
                "masked_words": gettext_lazy("Masked words"),
                "next_sentence": gettext_lazy("Next sentence"),
                "answers": gettext_lazy("Question answering"),
            },
            chart_views=("masked_words", "next_sentence", "answers"),
        ),
        AppPage(
            "translation",
            gettext_lazy("Translation"),
            "translate",
            {"translate": gettext_lazy("Translation")},
            chart_views=("translate",),
        ),
        AppPage(
            "text_generation",
            gettext_lazy("Text generation"),
            "edit_note",
            {"generate": gettext_lazy("Text generation")},
            chart_views=("generate",),
        ),
    ),
    gettext_lazy("Research"): (
        AppPage(
            "head_atlas",
            gettext_lazy("Head atlas"),
            "map",
            {
                "head_atlas": gettext_lazy("Heads"),
                "atlas_search": gettext_lazy("Word pairs"),
                "atlas_compare": gettext_lazy("Compare atlases"),
                "atlas_build": gettext_lazy("Build atlas"),
            },
            chart_views=("head_atlas", "atlas_search", "atlas_compare"),
        ),
        AppPage(
            "head_roles",
            gettext_lazy("Head roles & scores"),
            "speed",
            {"measure": gettext_lazy("Scores"), "roles": gettext_lazy("Roles")},
            chart_views=("measure", "roles"),
        ),
        AppPage(
            "ablation",
            gettext_lazy("Ablation & patching"),
            "science",
            {"cause": gettext_lazy("Ablation"), "patching": gettext_lazy("Activation patching")},
            chart_views=("cause", "patching"),
        ),
        AppPage(
            "attribution", gettext_lazy("Attribution methods"), "balance", {"agreement": gettext_lazy("Agreement")}
        ),
        AppPage("fine_tuning", gettext_lazy("Fine-tune a model"), "school", {"teach": gettext_lazy("Fine-tuning")}),
    ),
}
# Pages without an entry in the navigation; the top bar links to them.
HIDDEN = (AppPage("classroom", gettext_lazy("Class"), "groups", {"classroom": gettext_lazy("Class")}),)
PAGES = (*(page for pages in GROUPS.values() for page in pages), *HIDDEN)
BY_PATH = {page.path: page for page in PAGES}
BY_VIEW = {view: page for page in PAGES for view in page.views}
CHART_VIEWS = frozenset(view for page in PAGES for view in page.chart_views)
# Addresses of earlier versions, if they differ from the name of the view.
TUTORIALS = "tutorials"  # a former view with five themes; each is now a lesson
OLD_PATHS = {
    "bertviz": "bertviz_views",
    TUTORIALS: "lessons",
    **{view: view for view in BY_VIEW if view not in BY_PATH},
}
THEMES = {theme: f"claims_{theme}" for theme in ("attention", "bert", "finetuning", "families", "translation")}
THEME_FIELDS = ("theme", "seed", "dropped")  # the options of the former view
# Views that were an option of another page: its address, the query field and its value, and the view.
OLD_OPTIONS = (("compare", "show", "carry", "patching"),)


def view_at(path: str, field: str | None) -> str:
    """Return the name of the view that an address shows.

    It is the view ``field`` of the address's query if the page at ``path`` has it, else the page's first view. An
    unknown ``path`` shows the first page.

    >>> view_at("", None), view_at("", "find"), view_at("tokens", "find"), view_at("no_page", None)
    ('explore', 'find', 'tokens', 'explore')
    """
    page = BY_PATH.get(path, BY_PATH[""])
    return field if field is not None and field in page.views else page.first


def view_fields(view: str) -> dict[str, str]:
    """Return the fields of an address (URL) that select a view of its page; {} for the first view.

    >>> view_fields("find"), view_fields("explore")
    ({'view': 'find'}, {})
    """
    return {} if BY_VIEW[view].first == view else {FIELD: view}


def view_named(name: str) -> str | None:
    """Return the view that a link or a lesson refers to by ``name``, or None if there is none.

    ``name`` is the name of a view, or the path of a page, also of an earlier version.

    >>> view_named("bertviz"), view_named("find"), view_named("fill_in_the_blank"), view_named("nowhere")
    ('bertviz_views', 'find', 'masked_words', None)
    """
    if name in BY_VIEW:
        return name
    return OLD_PATHS.get(name) or (BY_PATH[name].first if name in BY_PATH else None)


def view_of_link(path: str, query: Mapping[str, str]) -> tuple[str, dict[str, str]] | None:
    """Return the view that a link opens, with the rest of its query; None if there is no such view.

    Links of earlier versions are understood.

    >>> view_of_link("vectors", {"layer": "3"}), view_of_link("tokens", {"view": "vectors"})
    (('vectors', {'layer': '3'}), ('vectors', {}))
    >>> view_of_link("compare", {"show": "carry", "layer": "3"})
    ('patching', {'layer': '3'})
    """
    if (moved := _current_address(path, query)) is not None:
        return moved
    if path in BY_PATH:
        return view_at(path, query.get(FIELD)), {name: raw for name, raw in query.items() if name != FIELD}
    return None


def new_address(path: str, query: str) -> str | None:
    """Return the present address of a page or view of an earlier version; None if it is not an old address.

    >>> new_address("find", "layer=3"), new_address("pictures", ""), new_address("tokens", "")
    ('?layer=3&view=find', 'image_attention', None)
    >>> new_address("compare", "show=carry&text=a+b"), new_address("compare", "text=a+b")
    ('ablation?text=a+b&view=patching', None)
    >>> new_address("tutorials", "theme=bert&text=A+cat.")
    'lessons?lesson=claims_bert&text=A+cat.'
    """
    moved = _current_address(path, dict(parse_qsl(query, keep_blank_values=True)))
    if moved is None:
        return None
    view, rest = moved
    fields = urlencode({**rest, **view_fields(view)})
    return BY_VIEW[view].path + (f"?{fields}" if fields else "")


def _current_address(path: str, query: Mapping[str, str]) -> tuple[str, dict[str, str]] | None:
    """Return the view and the query that replace an address of an earlier version; None for other addresses.

    An unknown theme of the tutorials leads to the first lesson.
    """
    lessons = OLD_PATHS[TUTORIALS]
    if path == TUTORIALS or (path == BY_VIEW[lessons].path and query.get(FIELD) == TUTORIALS):
        lesson = THEMES.get(query.get("theme", ""), THEMES["attention"])
        rest = {name: raw for name, raw in query.items() if name not in (FIELD, *THEME_FIELDS)}
        return lessons, {"lesson": lesson, **rest}
    for old, field, value, view in OLD_OPTIONS:
        if path == old and query.get(field) == value:
            return view, {name: raw for name, raw in query.items() if name != field}
    return (OLD_PATHS[path], dict(query)) if path in OLD_PATHS else None


def title_of(view: str) -> str:
    """Return the untranslated title of a view: that of its tab, or of its page if the page has a single view."""
    page = BY_VIEW[view]
    return page.views[view] if len(page.views) > 1 else page.title
