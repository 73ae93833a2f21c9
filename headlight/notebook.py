"""The functions ``view`` and ``explore``, and the object that shows a trace in a notebook cell.

The size of the cell's HTML is limited.
"""

from __future__ import annotations

import base64
import html
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, SupportsIndex, get_args

import numpy as np

from attention import external_maps
from attention.excess import PositionalPrior, positional_prior
from attention.external_maps import InvalidAttention
from attention.head_search import head_of_link
from attention.mask import BoolArray, FloatArray
from attention.measures import HeadSummary, summarize_heads
from attention.trace import Trace
from attention.view import View, far_pool, max_pool
from headlight.token_rows import row, whole_number
from i18n import _, join_sentences
from inference.catalogue.listing import find_reader
from inference.errors import UserError
from inference.hub_cards import HUB_CARDS
from inference.text.encoding import check_known
from viz.components.explore.content import choices, payload, script, style
from viz.components.standalone.standalone import Theme, standalone_html
from viz.export import TooLong, weights_csv, weights_json
from viz.static.head import picture
from viz.static.shapes import png, svg

if TYPE_CHECKING:
    from headlight.widget import Widget


LARGEST = 1_000_000  # maximal bytes of a cell's output
SMALL = (48, 24, 12)  # sides of a thumbnail in cells; the first that fits is used
PER_MAP = 150  # bytes of overhead per map
HEIGHT = 760  # height of the page in the notebook, in pixels
# The sandbox allows scripts and downloads, but no access to the notebook or a server.
FRAME = (
    '<iframe sandbox="allow-scripts allow-downloads" title="Headlight" '
    'style="width:100%;height:{height}px;border:0" srcdoc="{page}"></iframe>'
)
MOST_PICTURE = 200_000  # maximal bytes of a cell's static picture
STILL = '<img style="display:none" alt="{about}" src="data:image/png;base64,{source}">'


def standalone_page(view: View, survey: HeadSummary, selection: Mapping[str, Any], theme: Theme = "auto") -> str:
    """Return the interactive view of a trace as a self-contained HTML file.

    ``survey`` has the thumbnails and measures of all heads, and ``selection`` the initial selection. Raise
    viz.export.TooLong if the file cannot contain even a single map.
    """
    return _page(view, survey, selection, None, theme)


def notebook_frame(view: View, survey: HeadSummary, selection: Mapping[str, Any], theme: Theme = "auto") -> str:
    """Return the interactive view of a trace as an iframe for a notebook cell, of at most ``LARGEST`` bytes.

    The page contains all attention maps if they fit. Otherwise it contains the maps of heads nearest to the selected
    head, or only thumbnails, with a note. If the text is too long even for thumbnails, return a sentence instead.
    """
    one = len(view.queries) * len(view.keys) + focus_bytes(view)
    for least in (one, 0):  # tries smaller thumbnails before it drops the selected head's map
        for size in SMALL:
            small = replace(survey, thumbnails=_pool_thumbnails(survey, size))
            bare = _iframe_html(_page(view, small, selection, 0, theme))
            room = (LARGEST - size_of(bare) - PER_MAP * view.layers * view.heads) * 3 // 4  # base64 adds a third
            if room >= least:
                return _fit_maps(view, small, selection, room, theme) or bare
    said = _(
        'Headlight: {tokens:,} tokens are too long for a notebook. Save them with .save("page.html").',
        tokens=len(view.queries),
    )
    return f"<p>{said}</p>"


def _fit_maps(view: View, survey: HeadSummary, selection: Mapping[str, Any], room: int, theme: Theme) -> str | None:
    """Return the iframe with as many maps as fit into ``room`` bytes; None if none fit.

    A page without all maps also contains the selected token's weights in all heads.
    """
    every = view.layers * view.heads * len(view.queries) * len(view.keys)
    for most in (2 * every, every, room - focus_bytes(view)):
        if 0 < most <= room and size_of(made := _iframe_html(_page(view, survey, selection, most, theme))) <= LARGEST:
            return made
    return None


def focus_bytes(view: View) -> int:
    """Return the bytes of the weights of one query in all heads, at two bytes per weight."""
    return 2 * view.layers * view.heads * len(view.keys)


def _page(view: View, survey: HeadSummary, selection: Mapping[str, Any], most: int | None, theme: Theme) -> str:
    data = payload(view, survey, selection, "", "")
    return standalone_html(view, data, survey, None, *_script_and_style(), most, theme)


@cache
def _script_and_style() -> tuple[str, str]:
    return script(), style()


def _iframe_html(page: str) -> str:
    """Return the iframe with the page escaped as its srcdoc attribute."""
    return FRAME.format(height=HEIGHT, page=page.replace("&", "&amp;").replace('"', "&quot;"))


def size_of(page: str) -> int:
    """Return the number of bytes that an HTML page takes in a notebook file (UTF-8)."""
    return len(page.encode())


def _pool_thumbnails(survey: HeadSummary, size: int) -> FloatArray:
    pool = far_pool if survey.signed else max_pool
    return np.array([[pool(small, size) for small in layer] for layer in survey.thumbnails])


SMALL_MAP = 48  # side of a thumbnail in cells


@dataclass(frozen=True, eq=False)
class Shown:
    """A trace that is shown in a notebook.

    ``focus`` is the word or token index that is selected at first. If it is None, the link furthest above its
    expected weight is selected, as in the app (attention.excess). ``known`` is the positional prior: the mean weights
    by position in other texts. If it is None, it is estimated from this text. ``part`` is the stack, by default the
    trace's. ``theme`` is "light", "dark" or "auto" (the system's theme, as the frame cannot detect the notebook's).
    """

    trace: Trace
    focus: str | SupportsIndex | None = None
    known: PositionalPrior | None = None
    theme: Theme = "auto"
    part: str | None = None

    def __post_init__(self) -> None:
        if self.theme not in get_args(Theme):
            raise InvalidAttention(
                _("theme={theme!r}: expected one of {known}.", theme=self.theme, known=", ".join(get_args(Theme)))
            )
        self._word  # noqa: B018  # a missing word raises here, not when a cell is drawn

    def _repr_html_(self) -> str:
        """Return a sandboxed page of at most a megabyte that makes no network requests."""
        return notebook_frame(self.view, self.summary, self.selection, self.theme)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:  # noqa: ARG002  # IPython's signature
        """Return the page, a picture and a caption, so that a saved notebook shows the picture without scripts.

        Viewers that remove frames from the page, such as GitHub, also remove the style that hides the picture in it.
        """
        bundle = {"text/html": self._repr_html_(), "text/plain": repr(self)}
        try:
            drawn = picture(self.view, *(self.selection[name] for name in ("layer", "head", "focus")))
        except TooLong:
            return bundle
        still = svg(drawn)
        if len(still) <= MOST_PICTURE:
            bundle["image/svg+xml"] = still.decode()
            bundle["text/plain"] = f"{self!r} {drawn.about}"
            source = base64.b64encode(png(drawn)).decode()
            bundle["text/html"] += STILL.format(source=source, about=html.escape(drawn.about))
        return bundle

    def widget(self) -> Widget:
        """Return an interactive widget for a text of any length.

        The kernel computes maps when the widget needs them. The widget's attribute ``selection`` reads and sets the
        selection. Raise ImportError with a one-sentence message if anywidget is not installed.
        """
        try:
            from headlight.widget import Widget
        except ModuleNotFoundError as error:
            raise ImportError(
                _("A widget needs anywidget: pip install anywidget, then restart the notebook.")
            ) from error
        return Widget(self.view, self.summary, self.selection, repr(self))

    @property
    def html(self) -> str:
        """Return the page as HTML; it contains the same maps as the file that ``save`` writes."""
        return standalone_page(self.view, self.summary, self.selection, self.theme)

    def save(self, path: str | Path) -> Path:
        """Write the page to a self-contained HTML file and return its path.

        The file may be larger than a notebook cell, and contains more maps.
        """
        place = Path(path)
        place.write_text(self.html, encoding="utf-8")
        return place

    def __repr__(self) -> str:
        model, view = self.trace.model, self.view
        return _(
            "{name}: {layers} layers × {heads} heads, {tokens} tokens. {architecture}.",
            name=model.name,
            layers=view.layers,
            heads=view.heads,
            tokens=len(view.queries),
            architecture=model.architecture,
        )

    @cached_property
    def view(self) -> View:
        """Return the view of the trace with all its tokens."""
        return View(self.trace, part=self.part)

    @cached_property
    def selection(self) -> dict[str, Any]:
        """Return the initial selection as a dictionary; the keys are the app's URL parameters."""
        focus, head = self._word, None
        if focus is None:
            link = self.summary.own.best(self.view, self.known, self._free)
            words = [at for at, cell in enumerate(self.view.queries) if not cell.special]
            focus, head = (words[0] if words else 0, None) if link is None else (link.query, (link.layer, link.head))
        if head is None:
            head = head_of_link(self.view, self.summary, self.known, focus, heads=self._free)
        usual = {name: names[0] for name, names in choices(self.view).items()}
        return {**usual, "layer": head[0], "head": head[1], "focus": focus, "target": None, "pinned": []}

    @cached_property
    def summary(self) -> HeadSummary:
        """Return the thumbnails, column means and measures of all heads."""
        return summarize_heads(self.view, SMALL_MAP)

    @cached_property
    def _free(self) -> BoolArray | None:
        """Return the heads that are not positional in this text, shape (layer, head); None for all heads."""
        if self.known is not None or self.view.is_signed or all(cell.special for cell in self.view.queries):
            return None
        free = ~positional_prior([self.trace], self.part or self.trace.part).positional
        return free if free.any() else None

    @cached_property
    def _word(self) -> int | None:
        if self.focus is None:
            return None
        cells = self.view.queries
        if isinstance(self.focus, str):
            found = self._place(self.focus.strip().casefold())
        else:
            number = whole_number(self.focus)
            found = number if number is not None and 0 <= number < len(cells) else None
        if found is None:
            raise InvalidAttention(
                _(
                    "focus={focus!r} is not a token here: {cells}. Give a word, or a number from 0 to {last}.",
                    focus=self.focus,
                    cells=_name_some(cells),
                    last=len(cells) - 1,
                )
            )
        return found

    def _place(self, asked: str) -> int | None:
        """Return the index of the first token of a word, or of a token with this text or label, or None."""
        words = ((cell.text, cell.pieces[0]) for cell in replace(self.view, words=True).queries)
        tokens = ((name, at) for at, cell in enumerate(self.view.queries) for name in (cell.text, cell.label))
        return next((at for name, at in (*words, *tokens) if name.strip().casefold() == asked), None)


def _name_some(cells: Any, most: int = 12) -> str:
    names = [cell.label for cell in cells[:most]]
    return ", ".join(names) + (_(" and {many} more", many=len(cells) - most) if len(cells) > most else "")


Selection = Mapping[str, Any]  # the selected layer, head and tokens, with the names of the app's URL parameters as keys


def _page_exports(view: View, chosen: Selection) -> bytes:
    return standalone_page(view, summarize_heads(view, SMALL_MAP), chosen).encode()


def _svg(view: View, chosen: Selection) -> bytes:
    return svg(picture(view, chosen["layer"], chosen["head"], chosen["focus"]))


def _png(view: View, chosen: Selection) -> bytes:
    return png(picture(view, chosen["layer"], chosen["head"], chosen["focus"]))


def meta_file(file: Path) -> Path:
    """Return the path of the JSON file beside a CSV file that describes its model, text and settings."""
    stem = file.stem if file.suffix.lower() == ".csv" else file.name
    return file.with_name(f"{stem}.meta.json")


def _csv(view: View, chosen: Selection) -> bytes:
    return weights_csv(view, chosen["layer"], chosen["head"])


def _json(view: View, chosen: Selection) -> bytes:
    return weights_json(view, chosen["layer"], chosen["head"])


# Exporters by file suffix. Each may raise viz.export.TooLong or viz.static.shapes.PaintError.
FORMATS: dict[str, Callable[[View, Selection], bytes]] = {
    "html": _page_exports,
    "svg": _svg,
    "png": _png,
    "csv": _csv,
    "json": _json,
}


def view(  # noqa: PLR0913  # BertViz's parameters and a few more
    attentions: Any,
    tokens: Sequence[str],
    keys: Sequence[str] | None = None,
    second: int | None = None,
    special: Sequence[bool] | Sequence[str] | None = None,
    *,
    signed: bool = False,
    theme: Theme = "auto",
) -> Shown:
    """Show finished attention maps; the arguments are those of BertViz's ``head_view``.

    ``attentions`` contains an array, tensor or nested list per layer, of shape (1, head, query, key) or (head, query,
    key). It may also be a single layer, or the attentions that ``generate`` returns: for each step, a tuple of layers.
    If ``keys`` are given, ``tokens`` are only the queries (cross-attention). ``second`` is the index of the first token
    of the second text (BertViz's ``sentence_b_start``).

    ``special`` marks special tokens, either by a boolean per token or by their names. By default, common names such as
    [CLS] are recognised. If ``signed`` is set, the numbers are signed scores from -1 to 1, such as attributions, and
    are drawn with two colours. ``theme`` is "light", "dark" or "auto" (the system's theme).

    Raise ValueError with a one-sentence message if the arguments do not fit together.
    """
    looking, texts = row(tokens, second, special)
    if keys is None:
        return Shown(external_maps.trace(attentions, looking, texts=texts, signed=signed), theme=theme)
    if second is not None:
        raise external_maps.InvalidAttention(_("With keys, tokens are one text; leave second out."))
    looked, theirs = row(keys, None, special if _names(special) else None, "keys")
    return Shown(
        external_maps.trace(attentions, looked, looking, (theirs[0], None), texts[0], signed=signed), theme=theme
    )


def explore(  # noqa: PLR0913  # the input and the view options
    model: Any,
    tokenizer: Any,
    text: Any,
    pair: str | None = None,
    focus: str | SupportsIndex | None = None,
    *,
    target_text: str | None = None,
    truncate: bool = False,
    theme: Theme = "auto",
) -> Shown:
    """Run a model in memory on a text and show the attention of every head; the model is not modified.

    A copy that shares the model's weights runs the text, so the model's attention implementation, mode and device do
    not matter. An encoder-decoder generates its target unless ``target_text`` is given. If ``truncate`` is set, a text
    that is too long is cut to its first tokens. ``focus`` is the word, or the index of the token, that is selected at
    first. ``theme`` is as in ``view``.

    For a vision transformer, pass its processor as ``tokenizer`` and a picture as ``text``: an array of shape (row,
    column, 3) and dtype uint8, or a PIL image.

    Raise ValueError with a one-sentence message if the text cannot be run. This includes a text of which at least a
    third of the tokens are unknown to the model.
    """
    from inference.in_memory import trace, trace_picture  # torch is imported lazily, because that takes seconds

    if hasattr(text, "convert") or hasattr(text, "shape"):
        if pair is not None or target_text is not None or truncate:
            raise external_maps.InvalidAttention(_("A picture has no pair, target_text or truncate; leave them out."))
        return Shown(trace_picture(model, tokenizer, text), focus, theme=theme)
    try:
        read = trace(model, tokenizer, text, pair, target_text, truncate=truncate)
    except UserError as refusal:
        if refusal.way_out != "cut":
            raise
        said = _("{refusal} To read the beginning, pass truncate=True.", refusal=refusal.message)
        raise UserError(said, way_out=refusal.way_out, details=refusal.details) from refusal
    _refuse_unknown(read)
    return Shown(read, focus, theme=theme)


def _refuse_unknown(read: Trace) -> None:
    """Raise UserError if the model does not know the words of a text; suggest a hub model that does."""
    try:
        check_known(read.model.name, read.source, read.target)
    except UserError as refusal:
        better = find_reader(HUB_CARDS, refusal.details["unknown"], read.model.kind)
        if better is None:
            raise
        said = join_sentences(refusal.message, _("For example, {model} knows them.", model=better.id))
        raise UserError(said, way_out=refusal.way_out, details=refusal.details) from refusal


def _names(special: Any) -> bool:
    return hasattr(special, "__iter__") and all(isinstance(one, str) for one in special)
