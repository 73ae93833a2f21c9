"""Head atlases on a page: the selection of an atlas, and texts drawn with a head's strongest links."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import streamlit as st

from attention.excess import excess_map, visible_word_pairs
from attention.trace import Trace
from attention.view import View
from i18n import _, gettext_lazy, translate
from inference.errors import UserError
from inference.request import TraceRequest
from probing.atlas.labels import SHARES, HeadLabel
from probing.atlas.store import MANIFEST, WEIGHTS, Atlas, HeadName
from probing.formats import CONLLU
from ui.input.controls import bound_widget
from ui.paths import ASSETS, ROOT
from ui.run.fine_tuning import visitor
from ui.run.notices import show_error, show_notice
from ui.run.services import atlas_builds, get_backend
from ui.state.params import get_params
from ui.state.session import get_view_state
from viz.components.token_strip import token_strip
from viz.components.token_strip.token_strip import StripLine, StripLines, TokenChip
from viz.options import option
from viz.paper.notebook import Computation

DIRECTIONS = {str(direction): direction for direction in CONLLU.directions}
RANDOM = gettext_lazy("Random weights, largest")  # of all heads: the upper end of the 95 % interval
SHIPPED = ASSETS / "atlases"
AROUND = 8  # tokens that are shown on each side of a link
MOST_LINES = 12  # lines above the tokens of a window
LEAST_LINE = 0.1  # excess of a line


def _share(place: str) -> str:
    """Return the title of a measure: the share of attention to a place."""
    return gettext_lazy("share: {place}", place=place)


MEASURE_TITLES: dict[str, str] = {
    "distance": gettext_lazy("distance (tokens)"),
    "entropy": gettext_lazy("entropy (bits)"),
    "special": _share(gettext_lazy("special tokens")),
    "previous": _share(gettext_lazy("the token before")),
    "next": _share(gettext_lazy("the token after")),
    "itself": _share(gettext_lazy("itself")),
    "first": _share(gettext_lazy("first token")),
    "punctuation": _share(gettext_lazy("punctuation")),
}


@dataclass(frozen=True)
class AtlasChoiceOptions:
    """The options of a page on which the visitor can choose an atlas."""

    # The name of its folder; "" for that of the selected model.
    atlas: str = option(
        "",
        label=gettext_lazy("Atlas"),
        help=gettext_lazy("An atlas describes heads over many texts; “Build atlas” makes another."),
    )


def shipped_atlases() -> list[str]:
    """Return the names of the atlases that come with the app."""
    found = sorted(file.parent.name for file in SHIPPED.glob("*/atlas.json")) if SHIPPED.is_dir() else []
    return sorted(found, key=lambda name: name.startswith("headlight"))  # the embedded model first


def atlas_titles(*picked: str) -> dict[str, str]:
    """Return the titles of the atlases to choose from, by name.

    These are the atlases of the app and of the visitor, and those named in a link (``picked``).
    """
    found = {name: name for name in shipped_atlases()}
    for look in atlas_builds().builds_of(visitor()):
        if look.has_atlas:
            found[look.build.id] = look.build.title
    for name in picked:
        if name and name not in found:
            with suppress(UserError):
                look = atlas_builds().look(name)
                if look.has_atlas:
                    found[name] = look.build.title
    return found


def open_atlas(name: str) -> Atlas:
    """Return the atlas with a name from ``atlas_titles``; raise UserError if it is damaged."""
    folder = SHIPPED / name if name in shipped_atlases() else atlas_builds().look(name).atlas
    try:
        changed = (folder / MANIFEST).stat().st_mtime_ns
    except OSError:
        changed = 0
    return _open(folder, changed)


def atlas_computation(atlas: Atlas, code: str, **names: Any) -> Computation | None:
    """Return notebook code that runs ``code`` on ``atlas``, or None if the atlas does not come with the app.

    ``names`` are the names that the code uses.
    """
    if not atlas.folder.is_relative_to(SHIPPED):
        return None
    folder = atlas.folder.relative_to(ROOT).as_posix()
    return Computation(f"atlas = Atlas.open(Path(folder))\n{code}", Atlas=Atlas, Path=Path, folder=folder, **names)


@lru_cache(maxsize=4)
def _open(folder: Path, _changed: int) -> Atlas:
    return Atlas.open(folder)


def atlas_name(picked: str) -> str | None:
    """Return the name of the atlas to show: ``picked`` if it exists, else the first atlas of the selected model.

    If that model has no atlas, return the first of all atlases, or None if there is none.
    """
    names = list(atlas_titles(picked))
    if picked in names:
        return picked
    model = get_view_state().model
    for name in names:
        with suppress(UserError):
            if open_atlas(name).manifest["model"] == model:
                return name
    return names[0] if names else None


def pick_atlas(kind: type[AtlasChoiceOptions], place: object = st) -> Atlas | None:
    """Draw the widget that selects an atlas, and return the atlas.

    If there is no atlas, show a notice and return None. ``kind`` is the class of the page's options, and ``place`` the
    container.
    """
    options = get_params(kind)
    titles = atlas_titles(options.atlas)
    shown = atlas_name(options.atlas)
    if shown is None:
        show_notice(_("No atlas is installed. Run “headlight atlas build”."), "status")
        return None
    draw = getattr(place, "selectbox")  # noqa: B009
    bound_widget(kind, "atlas", draw, options=list(titles), shown=shown, format_func=titles.get)
    try:
        return open_atlas(shown)
    except UserError as refusal:
        show_error(refusal)
        return None


def describe_atlas(atlas: Atlas) -> str:
    """Return a sentence on the texts of an atlas."""
    found = atlas.manifest
    return _(
        "{model}: {tokens:,} tokens in {windows:,} windows of {texts:,} texts. Licences: {licences}.",
        model=found["model"],
        tokens=found["tokens"],
        windows=found["windows"],
        texts=found["texts"],
        licences="; ".join(found.get("licences", ())) or "–",
    )


def atlas_provenance(atlas: Atlas, sample: str = "") -> dict[str, Any]:
    """Return the provenance of an atlas's numbers: its model, its corpus (``data``, hashes) and its licences.

    ``sample`` names a part of the atlas, such as "16 random windows". An atlas that an earlier version built does not
    contain the hash of the weights.
    """
    found = atlas.manifest
    files = {str(source.get("name", "")): str(source.get("sha256", "")) for source in found.get("sources", ())}
    corpus = f"{found['tokens']:,} tokens of {found['texts']:,} texts ({', '.join(files)})"
    return {
        "model": found["model"],
        **{name: found[name] for name in ("revision", WEIGHTS) if found.get(name)},
        "data": f"{sample} of the head atlas of {corpus}" if sample else f"head atlas of {corpus}",
        "windows": found["windows"],
        "links_per_head": found["links_per_head"],
        "files_sha256": files,
        "licences": list(found.get("licences", ())),
    }


def label_name(label: HeadLabel) -> str:
    """Return the name of a head's label: a relation, or the title of the tokens that get its attention."""
    return translate(MEASURE_TITLES[label.kind]) if label.kind in SHARES else label.kind


def label_direction(label: HeadLabel) -> str:
    """Return the direction of a head's relation, such as "dependent to head", in the visitor's language.

    The first word of the phrase attends to the second. Return "" if the label is not a relation but a share of
    attention.
    """
    return translate(DIRECTIONS.get(label.direction, label.direction))


def label_text(label: HeadLabel) -> str:
    """Return sentences on a head's label: its score on held-out texts, and the baselines.

    The score has an interval and n, the number of links or texts. The baselines are the best rule without a model, if
    there is any, and the best head with random weights.
    """
    values: dict[str, Any] = {
        "name": label_name(label),
        **dict(zip(("value", "low", "high"), _format_shares(label.value, label.low, label.high), strict=True)),
        "n": label.n,
        "random": _("{name}: {text}", name=translate(RANDOM), text=f"{label.random:.0%}"),
    }
    if label.rule is None:
        return _("{name}: {value} of attention in {n:,} held-out texts ({low} to {high}). {random}.", **values)
    return _(
        "{name}, from {direction}: finds {value} of {n:,} held-out links ({low} to {high}). {rule}. {random}.",
        direction=label_direction(label),
        rule=_("{name}: {text}", name=_("Best rule"), text=f"{label.rule:.0%}"),
        **values,
    )


def _format_shares(*shares: float) -> list[str]:
    """Format shares as percentages with equal decimals, so many that only 0 and 1 read as 0% and 100%.

    >>> _format_shares(0.61, 0.58, 0.64), _format_shares(0.9975, 0.9973, 0.9977), _format_shares(1.0, 0.5)
    (['61%', '58%', '64%'], ['99.8%', '99.7%', '99.8%'], ['100%', '50%'])
    """
    for decimals in range(4):
        edges = f"{0:.{decimals}%}", f"{1:.{decimals}%}"
        found = [f"{share:.{decimals}%}" for share in shares]
        if not any(0 < share < 1 and text in edges for share, text in zip(shares, found, strict=True)):
            break
    return found


def brief_label(label: HeadLabel) -> str:
    """Return a head's label as a short text for a table: name, direction, score, n and baseline.

    The score is measured on n held-out links or texts. The baseline is the largest score of a head with random weights.
    """
    random = _("{name}: {text}", name=_("Random weights"), text=f"{label.random:.0%}")
    parts = (label_name(label), label_direction(label), *_format_shares(label.value), f"n = {label.n:,}", random)
    return " · ".join(part for part in parts if part)


def read_windows(atlas: Atlas, windows: Sequence[int]) -> list[Trace] | None:
    """Return the traces of some windows of an atlas, which are excerpts of its texts, by their indices.

    If the model cannot read them, show an error on the page and return None.
    """
    texts = atlas.windows["text"].take(list(windows)).to_pylist()
    try:
        with st.spinner(_("Running the model")):
            return get_backend().traces(
                [TraceRequest(atlas.manifest["model"], text, revision=atlas.manifest["revision"]) for text in texts]
            )
    except UserError as refusal:
        show_error(refusal)
        return None


def draw_links(trace: Trace, head: HeadName, key: str, title: str, link: tuple[int, int] | None = None) -> None:
    """Draw the tokens of a text, and the head's links whose weights are furthest above the column mean.

    The column mean is the mean weight that a key receives from the queries. If ``link`` (query, key) is given, it is
    drawn in the accent colour, and only the tokens around it are shown. ``key`` is the widget key.
    """
    view = View(trace, part=head.part)
    weights = view.weights(head.layer, head.head)
    excess = np.nan_to_num(excess_map(weights, visible_word_pairs(view, head.layer, np.arange(len(view.queries)))))
    special = np.array([cell.special for cell in view.queries])
    excess[special] = 0
    first, stop = 0, len(view.queries)
    if link is not None:
        first, stop = max(0, min(link) - AROUND), min(stop, max(link) + AROUND + 1)
    row, _columns = trace.token_rows(head.part)
    chips = [
        TokenChip(
            view.queries[at].text,
            shade=None if link is None or at == link[0] else float(weights[link[0], at]),
            mark="" if link is None else "chosen" if at == link[0] else "target" if at == link[1] else "",
            glued=row.goes_on(at),
            special=bool(special[at]),
            title="" if link is None else f"{weights[link[0], at]:.3f}",
        )
        for at in range(first, stop)
    ]
    inside = excess[first:stop, first:stop]
    order = np.argsort(-inside, axis=None, kind="stable")[:MOST_LINES]
    pairs = [divmod(int(at), stop - first) for at in order if inside.flat[at] >= LEAST_LINE]
    chosen = None if link is None else (link[0] - first, link[1] - first)
    if chosen is not None and chosen not in pairs:
        pairs.append(chosen)
    lines = [
        StripLine(query, at, float(weights[query + first, at + first]), chosen=(query, at) == chosen)
        for query, at in pairs
    ]
    token_strip.mount(chips, key, title=title, drawn=StripLines(lines, title))
