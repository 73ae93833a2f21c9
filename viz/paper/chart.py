"""A Plotly figure as an image for a paper: the same marks, axes and colours on white, drawn by matplotlib."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.colors import LinearSegmentedColormap, to_hex, to_rgba
from matplotlib.figure import Figure as PaperFigure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle
from matplotlib.ticker import MaxNLocator, MultipleLocator, NullFormatter, PercentFormatter

from viz.figures.theme import (
    DARK,
    LIGHT,
    Figure,
    color_at,
    diverging_scale,
    ink_on,
    line_colors,
    sequential_scale,
    sides,
)
from viz.figures.vectors import TINTS
from viz.paper.chart_table import Trace, first_of, numbers, plain_text, repeat, spans
from viz.paper.page import HAIR, INK, MUTED, PaperOptions, blank_figure, caption_lines, paper_font, text_width

PIXELS = 13  # size of the font on the screen, in pixels
HEIGHT = 450  # height of a figure without a height, in pixels
MOST_CELLS = 10_000  # cells of a map that are drawn as shapes; more become pixels
NAMES = ("circle", "square", "diamond", "triangle-up", "cross", "x", "star", "hexagon", "line-ns", "line-ew")
SYMBOLS = dict(zip(NAMES, "osD^PX*h|_", strict=True))
DASHES = {"solid": "-", "dash": "--", "dot": ":", "dashdot": "-."}
STEPS = {"hv": "steps-post", "vh": "steps-pre", "hvh": "steps-mid", "vhv": "steps-mid"}
Entry = tuple[Any, str]  # a handle of the legend and its text


def is_flat(figure: Figure) -> bool:
    """Return True if no trace of the figure has three dimensions."""
    return all("3d" not in trace.type for trace in figure.data)


def _plain_note(markup: str) -> str:
    """Return a note on colours, with the names of a light page's colours."""
    return plain_text(markup).replace(f"{sides(DARK)[1]}:", f"{sides(LIGHT)[1]}:")


class ChartDrawing:
    """A drawing of a Plotly figure with Matplotlib, on a page of the size that a paper needs."""

    def __init__(self, figure: Figure, options: PaperOptions, about: str) -> None:
        """Prepare the page; ``about`` is a line of provenance, for the caption."""
        self.options, self.scale = options, options.size / PIXELS
        self.traces: list[Trace] = [{**trace.to_plotly_json(), "type": trace.type} for trace in figure.data]
        self.layout: dict[str, Any] = figure.layout.to_plotly_json()
        self.is_dark = self.layout.get("font", {}).get("color") == DARK.text
        self.colours = _light_colours() if self.is_dark else {}
        self.base = next((trace for trace in self.traces if _is_map(trace)), None)
        self.entries: list[Entry] = []
        self.stacks: dict[str, np.ndarray] = {}
        title = plain_text(self.layout.get("title", {}).get("text") or "")
        said = (title, about) if options.caption else ()
        self.lines = [line for text in said for line in caption_lines(text, options.size, options.points)]
        self.page = blank_figure(options.points, self._height())
        self.page.set_layout_engine("constrained", w_pad=0.02, h_pad=0.03)
        self.axes: Any = self.page.add_subplot()

    def draw(self) -> PaperFigure:
        """Return the page with the drawn figure."""
        before: Trace = {}
        bars = [trace for trace in self.traces if trace["type"] == "bar"]
        for trace in self.traces:
            if trace["type"] == "bar":
                self._bars(trace, bars.index(trace), len(bars))
            elif trace["type"] == "histogram":
                self._histogram(trace)
            elif trace["type"] == "scatter":
                self._scatter(trace, before)
                before = trace
        if self.base is not None:
            self._map(self.base)
        for shape in self.layout.get("shapes", ()):
            self._shape(shape)
        self._axis("x")
        self._axis("y")
        free = not any(self.layout.get(f"{name}axis", {}).get("range") for name in "xy")
        if free and self.base is None and self.layout.get("yaxis", {}).get("scaleanchor"):
            self.axes.set_aspect("equal", adjustable="datalim")
        self._frame()
        self._legend()
        if self.lines:
            self.page.suptitle("\n".join(self.lines), x=0.01, ha="left", color=INK, font=self._font(), parse_math=False)
        self._fit_height()
        return self.page

    def _fit_height(self) -> None:
        """Make the page higher if the layout has put a part of the drawing below its edge.

        ``_height`` only estimates the layout of a map with square cells: the cells become as wide as the page permits.
        """
        for _attempt in range(2):
            self.page.draw_without_rendering()
            below = -self.page.get_tightbbox().y0
            if below <= 0:
                return
            self.page.set_figheight(self.page.get_figheight() + below + 0.02)

    def _height(self) -> float:
        """Return the height of the page in points."""
        height = float(self.layout.get("height") or HEIGHT) * self.scale
        if self.base is not None and self.layout.get("yaxis", {}).get("scaleanchor"):
            rows, columns = np.shape(self.base["z"])
            texts = self.layout["yaxis"].get("ticktext") or ()
            names = max((text_width(plain_text(str(text)), self.options.size) for text in texts), default=0)
            width = self.options.points - names - 4 * self.options.line
            height = width * rows / columns + 7 * self.options.line
        return height + len(self.lines) * self.options.line

    def _font(self, share: float = 1.0) -> Any:
        return paper_font(self.options.size * share)

    def _rgba(self, colour: Any, opacity: float = 1.0) -> tuple[float, float, float, float]:
        """Return a CSS colour for white paper as matplotlib's red, green, blue and opacity, 0 to 1 each."""
        rgba: Any
        if isinstance(colour, str) and colour.startswith("rgb"):
            parts = [float(part) for part in re.findall(r"[\d.]+", colour)]
            rgba = (*(part / 255 for part in parts[:3]), parts[3] if len(parts) > 3 else 1.0)
        else:
            rgba = to_rgba(colour or LIGHT.heads)
        own = to_hex(rgba)
        red, green, blue, _ = to_rgba(self.colours.get(own, own))
        return red, green, blue, rgba[3] * opacity

    def _each(self, colour: Any, count: int, opacity: Any = 1.0) -> list[tuple[float, float, float, float]]:
        """Return the colours of ``count`` marks."""
        colours, shares = repeat(colour, count), repeat(opacity, count)
        return [self._rgba(own, float(share)) for own, share in zip(colours, shares, strict=True)]

    def _scale(self, trace: Trace) -> list[list[Any]]:
        """Return a map's colour scale for white paper."""
        scale = [[float(place), str(colour)] for place, colour in trace["colorscale"]]
        if not self.is_dark:
            return scale
        is_diverging = str(scale[0][1]).lower() == str(diverging_scale(DARK)[0][1]).lower()
        return diverging_scale(LIGHT) if is_diverging else sequential_scale(LIGHT)

    def _enter(self, trace: Trace, handle: Any) -> None:
        """Add a trace to the legend if the page shows it there."""
        shown = trace.get("showlegend", len(self.traces) > 1)
        if shown and trace.get("name") and self.layout.get("showlegend") is not False:
            self.entries.append((handle, plain_text(trace["name"])))

    def _map(self, trace: Trace) -> None:
        """Draw a map of coloured cells with the texts on its cells and its colour bar."""
        values = np.ma.masked_invalid(np.asarray(trace["z"], np.float64))
        rows, columns = values.shape
        scale = self._scale(trace)
        across, down = (_edges(trace.get(name), count) for name, count in (("x", columns), ("y", rows)))
        mesh = self.axes.pcolormesh(
            across,
            down,
            values,
            cmap=LinearSegmentedColormap.from_list("scale", list(map(tuple, scale))),
            vmin=trace.get("zmin"),
            vmax=trace.get("zmax"),
            edgecolors="white",
            linewidth=0.4 if values.size <= MOST_CELLS else 0,
            rasterized=values.size > MOST_CELLS,
            zorder=1,
        )
        if self.layout.get("yaxis", {}).get("scaleanchor"):
            self.axes.set_aspect("equal", anchor="NW")
        shares = mesh.norm(values)
        for other in self.traces:
            if other["type"] == "heatmap" and other.get("text") is not None:
                self._cell_texts(other, shares, scale)
        note = _plain_note(self.layout.get("title", {}).get("subtitle", {}).get("text") or "")
        if trace.get("showscale", True):
            place: dict[str, Any] = {"location": "top", "shrink": 0.5, "aspect": 22, "pad": 0.03, "anchor": (0.0, 0.0)}
            bar = self.page.colorbar(mesh, ax=self.axes, **place)
            bar.outline.set_visible(False)
            bar.locator = MaxNLocator(4)
            if "%" in (trace.get("colorbar", {}).get("tickformat") or ""):
                bar.formatter = PercentFormatter(1, decimals=0)
            bar.update_ticks()
            bar.ax.tick_params(labelsize=self.options.size, color=HAIR, labelcolor=INK, length=2)
            note = plain_text(trace.get("colorbar", {}).get("title", {}).get("text") or "") or note
            note = "\n".join(caption_lines(note, self.options.size, 0.75 * self.options.points))
            bar.set_label(note, font=self._font(), loc="left", color=INK, parse_math=False)

    def _cell_texts(self, trace: Trace, shares: Any, scale: list[list[Any]]) -> None:
        size = min(self.options.size, self._cell() * 0.5)
        for (row, column), text in np.ndenumerate(np.asarray(trace["text"], object)):
            if (plain := plain_text(str(text)).strip("\u200b ")) and size >= 3:
                ink = (
                    INK if np.ma.is_masked(shares[row, column]) else ink_on(color_at(scale, float(shares[row, column])))
                )
                self.axes.text(column, row, plain, color=ink, ha="center", va="center", parse_math=False,
                               font=paper_font(size), zorder=4)  # fmt: skip

    def _cell(self) -> float:
        """Return the approximate width of a cell of the map in points."""
        return self.options.points * 0.85 / max(1, np.shape(self.base["z"])[1] if self.base else 1)

    def _bars(self, trace: Trace, at: int, count: int) -> None:
        """Draw the bars of a trace, the bars of several traces next to each other."""
        flat = trace.get("orientation") == "h"
        sizes, places = (numbers(trace[name]) for name in (("x", "y") if flat else ("y", "x")))
        marker, error = trace.get("marker", {}), trace.get("error_x" if flat else "error_y")
        thick = (1 - float(self.layout.get("bargap", 0.2))) / count
        centres = places + (at - (count - 1) / 2) * thick
        colours = self._each(marker.get("color"), len(sizes), marker.get("opacity", 1.0))
        (self.axes.barh if flat else self.axes.bar)(centres, sizes, thick, color=colours, zorder=2)
        if error:
            at_end = {"xerr" if flat else "yerr": spans(error)}
            xy = (sizes, centres) if flat else (centres, sizes)
            self.axes.errorbar(*xy, **at_end, fmt="none", ecolor=INK, elinewidth=0.8, capsize=2, zorder=3)
        ends = sizes + (spans(error)[1] if error else 0)  # a text follows its error bar
        for place, size, text in zip(centres, ends, repeat(trace.get("text") or "", len(sizes)), strict=True):
            spot, offset = ((size, place), (2, 0)) if flat else ((place, size), (0, 2))
            self.axes.annotate(plain_text(str(text)), spot, offset, textcoords="offset points", color=INK,
                               font=self._font(), va="center" if flat else "bottom", ha="left" if flat else "center",
                               parse_math=False, annotation_clip=False)  # fmt: skip
        self._enter(trace, Patch(color=colours[0] if colours else INK))

    def _histogram(self, trace: Trace) -> None:
        colour = self._rgba(trace.get("marker", {}).get("color"))
        self.axes.hist(numbers(trace["x"]), bins=trace.get("nbinsx") or 30, color=colour, zorder=2)
        self._enter(trace, Patch(color=colour))

    def _scatter(self, trace: Trace, before: Trace) -> None:
        """Draw the lines, areas, marks, error bars and texts of a trace."""
        x, y = numbers(trace["x"]), numbers(trace["y"])
        mode, line, marker = trace.get("mode", "lines"), trace.get("line", {}), trace.get("marker", {})
        opacity = float(trace.get("opacity", 1))
        colour = self._rgba(line.get("color") or first_of(marker.get("color")), opacity)
        width, dash = float(line.get("width", 2)) * self.scale, DASHES.get(line.get("dash", "solid"), "--")
        area = self._rgba(trace["fillcolor"]) if trace.get("fillcolor") else (*colour[:3], 0.5)
        if (stack := trace.get("stackgroup")) is not None:
            lower = self.stacks.get(stack, np.zeros(len(y)))
            self.stacks[stack] = y = lower + y
            self.axes.fill_between(x, lower, y, color=area, lw=0, zorder=1)
        elif trace.get("fill") == "tonexty" and before:
            self.axes.fill_between(x, numbers(before["y"]), y, color=area, lw=0, zorder=1)
        elif trace.get("fill") == "toself":
            self.axes.fill(x, y, color=area, lw=0, zorder=1)
        handle: dict[str, Any] = {"color": colour, "linestyle": "none", "linewidth": width}
        if "lines" in mode:
            drawn = STEPS.get(line.get("shape", ""), "default")
            self.axes.plot(x, y, dash, color=colour, linewidth=width, drawstyle=drawn, zorder=3)
            handle["linestyle"] = dash
        for name in ("error_x", "error_y"):
            if error := trace.get(name):
                lengths = {f"{name[-1]}err": spans(error)}
                self.axes.errorbar(x, y, **lengths, fmt="none", ecolor=colour, elinewidth=0.8, capsize=2, zorder=3)
        if "markers" in mode:
            handle |= self._marks(x, y, marker, opacity)
        if "text" in mode:
            self._texts(trace, x, y)
        if trace.get("fill") or stack is not None:
            self._enter(trace, Patch(color=area))
        elif mode not in ("none", "text"):
            self._enter(trace, Line2D([], [], **handle))

    def _marks(self, x: np.ndarray, y: np.ndarray, marker: Trace, opacity: float) -> dict[str, Any]:
        """Draw marks and return the settings of their entry in the legend."""
        shares = repeat(marker.get("opacity", 1), len(x))
        if not any(shares):
            return {}
        colours = self._each(marker.get("color"), len(x), [opacity * float(share) for share in shares])
        sizes = np.array([float(size) * self.scale for size in repeat(marker.get("size", 6), len(x))])
        symbol = str(first_of(marker.get("symbol")) or "circle")
        shape, is_open = SYMBOLS.get(symbol.removesuffix("-open"), "o"), symbol.endswith("-open")
        rim = float(first_of(marker.get("line", {}).get("width")) or (2 if is_open else 0)) * self.scale
        rims: Any = colours if is_open else self._rgba(marker.get("line", {}).get("color") or "#ffffff")
        faces: Any = "none" if is_open else colours
        if shape in "|_":  # These have no face.
            rims, faces = None, colours
        self.axes.scatter(x, y, sizes**2, faces, marker=shape, edgecolors=rims, linewidths=max(rim, 0.1), zorder=4,
                          clip_on=False)  # fmt: skip
        first = colours[0] if colours else INK
        size = float(sizes[0]) if len(sizes) else 6 * self.scale
        return {
            "marker": shape,
            "markersize": min(size, self.options.size),
            "markerfacecolor": first if faces is colours else "none",
            "markeredgecolor": first if rims is colours or rims is None else rims,
            "markeredgewidth": max(rim, 0.1),
        }

    def _texts(self, trace: Trace, x: np.ndarray, y: np.ndarray) -> None:
        """Draw the texts of a trace; those on a map are black or white."""
        places = repeat(trace.get("textposition", "middle center"), len(x))
        size = float(first_of(trace.get("textfont", {}).get("size")) or PIXELS) * self.scale
        size = max(size, self.options.size)
        shift = {"top": (0, 4), "bottom": (0, -4), "left": (-4, 0), "right": (4, 0)}
        for across, down, text, place in zip(x, y, repeat(trace.get("text"), len(x)), places, strict=True):
            vertical, horizontal = str(place).split()
            self.axes.annotate(
                plain_text(str(text or "")),
                (across, down),
                shift.get(vertical, shift.get(horizontal, (0, 0))),
                textcoords="offset points",
                color=self._ink(across, down),
                ha={"left": "right", "right": "left"}.get(horizontal, "center"),
                va={"top": "bottom", "bottom": "top"}.get(vertical, "center"),
                font=paper_font(min(size, self._cell() * 0.6) if self.base else size),
                parse_math=False,
                annotation_clip=False,
                zorder=5,
            )

    def _ink(self, across: float, down: float) -> str:
        """Return the colour of a text: black or white on a cell of the map."""
        if self.base is None:
            return INK
        values = np.asarray(self.base["z"], np.float64)
        row, column = round(down), round(across)
        if not (0 <= row < values.shape[0] and 0 <= column < values.shape[1]) or np.isnan(values[row, column]):
            return INK
        low, high = float(self.base.get("zmin", np.nanmin(values))), float(self.base.get("zmax", np.nanmax(values)))
        return ink_on(color_at(self._scale(self.base), (values[row, column] - low) / ((high - low) or 1)))

    def _shape(self, shape: Mapping[str, Any]) -> None:
        """Draw a line or a rectangle."""
        line = shape.get("line", {})
        width = float(line.get("width", 2)) * self.scale
        look: dict[str, Any] = {"color": self._rgba(line.get("color")), "linewidth": width}
        x0, x1, y0, y1 = (shape[name] for name in ("x0", "x1", "y0", "y1"))
        if shape["type"] == "rect":
            self.axes.add_patch(Rectangle((x0, y0), x1 - x0, y1 - y0, fill=False, zorder=5, **look))
            return
        look["linestyle"] = DASHES.get(line.get("dash", "solid"), "--")
        if str(shape.get("yref", "y")) != "y":
            self.axes.axvline(x0, **look, zorder=2)
        elif str(shape.get("xref", "x")) != "x":
            self.axes.axhline(y0, **look, zorder=2)
        else:
            self.axes.plot([x0, x1], [y0, y1], **look, zorder=3)
        if shape.get("showlegend") and shape.get("name"):
            self.entries.append((Line2D([], [], **look), plain_text(shape["name"])))

    def _axis(self, name: str) -> None:
        """Set the limits, the ticks and the title of the axis ``name``, x or y."""
        axes, set_ = self.axes, self.axes.set_xlim if name == "x" else self.axes.set_ylim
        given = self.layout.get(f"{name}axis", {})
        own = axes.xaxis if name == "x" else axes.yaxis
        is_log = given.get("type") == "log"
        if is_log:
            (axes.set_xscale if name == "x" else axes.set_yscale)("log")
        if (limits := given.get("range")) is not None:
            set_(*((10**end for end in limits) if is_log else limits))
        elif given.get("rangemode") == "tozero" and not is_log:
            low, high = own.get_view_interval()
            set_(min(0, low), max(0, high))
        if given.get("autorange") == "reversed":
            (axes.invert_xaxis if name == "x" else axes.invert_yaxis)()
        self._ticks(name, given)
        own.set_visible(given.get("visible", True))
        if given.get("side") == "top":
            own.tick_top()
            own.set_label_position("top")
        own.set_label_text(plain_text(given.get("title", {}).get("text") or ""), font=self._font(), color=INK,
                           parse_math=False)  # fmt: skip
        if given.get("showgrid", True):
            own.grid(visible=True, color=HAIR, linewidth=0.5, zorder=0)
        if given.get("zeroline"):
            (axes.axvline if name == "x" else axes.axhline)(0, color=MUTED, linewidth=0.8, zorder=2)

    def _ticks(self, name: str, given: Mapping[str, Any]) -> None:
        """Draw the ticks, of which labels are left out evenly if they do not fit."""
        own = self.axes.xaxis if name == "x" else self.axes.yaxis
        own.set_tick_params(labelsize=self.options.size, color=HAIR, labelcolor=INK, length=2)
        length = (self.options.points if name == "x" else self.page.get_figheight() * 72) * 0.78
        if (places := given.get("tickvals")) is not None:
            places = list(places)
            texts = [plain_text(str(text)) for text in given.get("ticktext") or places]
            widest = max((text_width(text, self.options.size) for text in texts), default=0)
            turned = name == "x" and (bool(given.get("tickangle")) or widest * len(texts) > length)
            side = "left" if given.get("side") == "top" else "right"
            step = max(1, math.ceil(len(texts) * self.options.line / length))
            own.set_ticks(places[::step])
            own.set_minor_formatter(NullFormatter())
            own.set_ticklabels(texts[::step], font=self._font(), rotation=60 if turned else 0, parse_math=False,
                               **({"ha": side, "rotation_mode": "anchor"} if turned else {}))  # fmt: skip
        elif given.get("dtick") and given.get("type") != "log":
            every = float(given["dtick"])
            count = abs(float(np.subtract(*own.get_view_interval()))) / every
            need = self.options.size * (1.6 if name == "x" else LEAST_LINE)
            own.set_major_locator(MultipleLocator(every * max(1, math.ceil(count * need / length))))
        elif given.get("type") != "log":
            own.set_major_locator(MaxNLocator(6 if name == "y" or self.options.width == "page" else 5))
        if "%" in (given.get("tickformat") or ""):
            own.set_major_formatter(PercentFormatter(1, decimals=0))
        if given.get("showticklabels") is False:
            own.set_tick_params(labelbottom=False, labelleft=False, length=0)

    def _frame(self) -> None:
        for spine in self.axes.spines.values():
            spine.set_visible(self.options.frame and self.base is None)
            spine.set_color(HAIR)

    def _legend(self) -> None:
        """Draw the legend below the axes, in as many columns as fit."""
        if not self.entries:
            return
        widest = max(text_width(text, self.options.size) for _, text in self.entries) + 4 * self.options.size
        columns = max(1, min(len(self.entries), int(self.options.points / widest)))
        legend = self.page.legend(
            [handle for handle, _ in self.entries],
            ["–"] * len(self.entries),
            ncols=columns,
            loc="outside lower left",
            frameon=False,
            prop=self._font(),
            labelcolor=INK,
        )
        for shown, (_, text) in zip(legend.get_texts(), self.entries, strict=True):
            shown.set_parse_math(False)
            shown.set_text(text)


LEAST_LINE = 1.2  # distance between the numbers of a vertical axis, in font sizes


def draw_chart(figure: Figure, options: PaperOptions, about: str = "") -> PaperFigure:
    """Return a Plotly figure of viz/figures drawn for a paper, on white with the colours of a light page.

    If ``options.caption`` is set, the title and ``about`` (model, text, version) are above the axes. The figure must be
    flat (``is_flat``).
    """
    return ChartDrawing(figure, options, about).draw()


def _is_map(trace: Trace) -> bool:
    return bool(trace["type"] == "heatmap" and trace.get("opacity", 1) != 0)


def _light_colours() -> dict[str, str]:
    """Return the colours of a light page for those of a dark page, as lower-case hexadecimal colours."""
    fields = ("text", "grid", "heads", "accent", "line")
    pairs = [(getattr(DARK, field), getattr(LIGHT, field)) for field in fields]
    pairs += zip(line_colors(DARK), line_colors(LIGHT), strict=True)
    scales = zip(diverging_scale(DARK), diverging_scale(LIGHT), strict=True)
    pairs += ((str(dark), str(light)) for (_, dark), (_, light) in scales)
    pairs += ((color_at(diverging_scale(DARK), place), color_at(diverging_scale(LIGHT), place)) for place in TINTS)
    pairs.append((str(sequential_scale(DARK)[0][1]), str(sequential_scale(LIGHT)[0][1])))
    return {dark.lower(): light for dark, light in pairs}


def _edges(places: Any, count: int) -> np.ndarray:
    """Return the edges of cells of width 1 around the places.

    >>> _edges(None, 2).tolist()
    [-0.5, 0.5, 1.5]
    """
    centres = np.arange(count) if places is None else numbers(places)
    return np.append(centres - 0.5, centres[-1:] + 0.5)
