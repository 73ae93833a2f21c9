"""The command ``headlight site``: a folder of files that shows recorded texts on any web host."""

from __future__ import annotations

import argparse
import re
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from attention.excess import PositionalPrior
from attention.head_search import LEAST, expected_links, flips, links, preference, weight_above_expected
from attention.measures import summarize_heads
from attention.trace import Trace
from attention.view import View
from headlight.command_input import (
    CommandError,
    add_hub_options,
    add_model_option,
    label_of,
    open_model,
    positional_prior_of,
    read_picture,
    read_trace,
    text_of,
    write_file,
)
from headlight.notebook import SMALL_MAP, Shown
from i18n import available_languages, gettext_lazy, use_language
from i18n.lists import percentage_points
from inference.backend import LocalBackend
from inference.browser.export import ROWS, export_encoder, export_masked
from inference.files.embedded import BERT
from inference.request import TraceRequest
from lessons.answer_key import CheckInput
from lessons.schema import Lesson
from viz.components.explore.content import places
from viz.site import SiteFolder
from viz.site_entries import RecordedPicture, RecordedText
from viz.site_live import LiveMasks, LiveModel, NoVendor, OpenedText

OWN_FILES = (
    "site-*.js",
    "site-*.css",
    "matrices-*.js",
    "picture-*.js",
    "texts/*.bin",
    "texts/photo-*",
    "lessons/*.json",
    "lessons/*.bin",
    "live/*-????????????.*",
)
MARK = '<meta name="generator" content="Headlight">'


@dataclass(frozen=True)
class VariantPair:
    """Two texts that differ by a word (``words``).

    The site compares the weights from ``source`` to the two ``candidates``.
    """

    texts: tuple[str, str]
    words: tuple[str, str]
    source: str
    candidates: tuple[str, str]


@dataclass(frozen=True)
class SiteEntry:
    """A text or an image file of the site, as the command line names it, with its caption and model.

    ``model`` is None for the model of the whole site.
    """

    kind: str  # "text" or "picture"
    value: str
    model: str | None  # the last model before it; None for that of the whole site
    caption: str = ""


class SiteInput(argparse.Action):
    """An argparse action that adds a text or an image to the site.

    The site shows the entries in the order of the options.
    """

    def __call__(self, _parser: Any, asked: argparse.Namespace, value: Any, option: str | None = None) -> None:
        """Append the entry."""
        entry = SiteEntry((option or "").lstrip("-"), value, asked.model)
        setattr(asked, self.dest, [*getattr(asked, self.dest), entry])


class InputCaption(argparse.Action):
    """An argparse action that gives a caption to the entry before it."""

    def __call__(self, parser: argparse.ArgumentParser, asked: Any, value: Any, option: str | None = None) -> None:
        """Replace the last entry by one with the caption."""
        entries = getattr(asked, self.dest)
        if not entries:
            parser.error(f"{option} follows the text or image that it describes.")
        setattr(asked, self.dest, [*entries[:-1], replace(entries[-1], caption=value)])


ALTERNATIVES = re.compile(r"\{([^{}|]+(?:\|[^{}|]+)+)\}")
MOST_VARIANTS = 8


def variants_of(text: str) -> list[tuple[str, str]]:
    """Return (text, word) for each variant of a text with alternatives in braces, such as "too {tired|wide}".

    A text without alternatives has a single variant with the word "". Raise CommandError for several groups of
    alternatives, or for more than MOST_VARIANTS.

    >>> variants_of("It was {hot|cold}.")
    [('It was hot.', 'hot'), ('It was cold.', 'cold')]
    >>> variants_of("Plain {text}.")
    [('Plain {text}.', '')]
    """
    found = list(ALTERNATIVES.finditer(text))
    if not found:
        return [(text, "")]
    words = [word.strip() for word in found[0][1].split("|")]
    if len(found) > 1 or len(words) > MOST_VARIANTS:
        raise CommandError(
            f"“{text[:60]}” has too many alternatives. Give a single group of at most {MOST_VARIANTS}, such as {{a|b}}."
        )
    start, end = found[0].span()
    return [(text[:start] + word + text[end:], word) for word in words]


FAMOUS = VariantPair(
    (
        "The animal didn't cross the street because it was too tired.",
        "The animal didn't cross the street because it was too wide.",
    ),
    ("tired", "wide"),
    "it",
    ("animal", "street"),
)
SECOND = "The animal was too tired to cross the street."  # the second text of the pair with which a live model opens


def add_parser(commands: Any) -> None:
    """Add the parser of ``headlight site`` to the subparsers ``commands``."""
    parser = commands.add_parser(
        "site",
        help="a folder for any web host that shows texts without a server",
        usage="headlight site FOLDER [--text TEXT …] [OPTION …]",
        epilog="To look at it: python -m http.server -d FOLDER. docs/SITE.md explains how to publish it.",
    )
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="a new folder, or a site that is replaced")
    parser.add_argument(
        "--text",
        action=SiteInput,
        dest="entries",
        default=[],
        metavar="TEXT",
        help="a text of the site; repeatable; {a|b} gives variants",
    )
    parser.add_argument(
        "--picture",
        action=SiteInput,
        dest="entries",
        metavar="FILE",
        help="an image file for a vision model; repeatable",
    )
    parser.add_argument(
        "--caption",
        action=InputCaption,
        dest="entries",
        metavar="TEXT",
        help="a caption for the text or image before it",
    )
    parser.add_argument(
        "--lessons",
        nargs="*",
        metavar="NAME",
        help="lessons of the app by name, and lesson files in .toml; without a name the whole course",
    )
    parser.add_argument("--only", action="store_true", help="leave out the pair “… too tired | wide”")
    parser.add_argument("--part", choices=("encoder", "decoder", "cross"), help="the stack of an encoder-decoder")
    parser.add_argument("--title", default="Headlight", metavar="TEXT", help="the title of the page")
    parser.add_argument("--cite", default="", metavar="TEXT", help="a citation at the end of the page")
    parser.add_argument(
        "--lang",
        choices=available_languages(),
        nargs="+",
        default=["en"],
        help="the languages of the page; the first is shown unless the reader's browser prefers another",
    )
    parser.add_argument("--live", action="store_true", help="add models that readers can run in the browser")
    parser.add_argument("--truncate", action="store_true", help="read the first tokens of a text that is too long")
    add_model_option(parser)
    add_hub_options(parser)
    parser.set_defaults(run=run)


def _chosen_lessons(names: list[str]) -> dict[str, Lesson]:
    """Return the lessons of these names; their module is imported late, because it imports Streamlit."""
    from headlight.site_lessons import chosen_lessons

    return chosen_lessons(names)


def run(asked: argparse.Namespace) -> int:
    """Write the folder of the site and return the exit status."""
    if asked.only and not asked.entries and asked.lessons is None:
        raise CommandError("A site needs a text: add --text TEXT or --lessons, or leave out --only.")
    refuse_folder(asked.folder)
    title, citation = label_of(asked.title), label_of(asked.cite)
    lessons = {} if asked.lessons is None else _chosen_lessons(asked.lessons)
    opened = cache(lambda model: open_model(argparse.Namespace(**{**vars(asked), "model": model})))
    first = asked.entries[0].model if asked.entries else None
    backend, model = opened(first or asked.model)
    folder = SiteFolder(list(dict.fromkeys(asked.lang)))
    for text in [] if asked.only else _variants(backend, TraceRequest(model, revision=asked.revision), asked):
        folder.add_text(text)
    for entry in asked.entries:
        backend, model = opened(entry.model or asked.model)
        request = TraceRequest(model, revision=asked.revision)
        if entry.kind == "picture":
            folder.add_picture(_picture(backend, request, entry))
        else:
            for text in _texts(backend, request, entry, asked):
                folder.add_text(text)
    live = None
    if asked.live:
        backend, model = opened(asked.model)
        _add_live(folder, backend, model, asked.revision)
        live = CheckInput(model, "", revision=asked.revision or "")
    for name, lesson in lessons.items():
        _add_lesson(folder, name, lesson, live)
    files = folder.finish(title, citation)
    write_site(asked.folder, files)
    size = sum(map(len, files.values()))
    entries = f"{folder.entries} texts" + (f", {len(lessons)} lessons" if lessons else "")
    print(f"{asked.folder}: {entries}, {size / 1e6:.2f} MB. python -m http.server -d {asked.folder}")
    return 0


def _add_live(folder: SiteFolder, backend: LocalBackend, model: str, revision: str | None) -> None:
    """Add the models for the browser; raise CommandError if the scripts of other projects are missing."""
    try:
        masks = LiveMasks(BERT, *export_masked(BERT, backend.settings))
        folder.add_live(_live_model(backend, model, revision), masks)
    except NoVendor as error:
        raise CommandError(str(error)) from error


def _live_model(backend: LocalBackend, model: str, revision: str | None) -> LiveModel:
    """Return a model for the browser; raise UserError if it is not a plain BERT."""
    exported = export_encoder(model, revision, backend.settings)
    request = TraceRequest(model, FAMOUS.texts[0], revision=revision)
    trace = backend.trace(request)
    prior = positional_prior_of(backend, request, trace)
    single, pair = Shown(trace, known=prior), Shown(backend.trace(replace(request, pair=SECOND)), known=prior)
    return LiveModel(
        name=exported.name,
        layers=exported.sizes.layers,
        heads=exported.sizes.heads,
        channels=exported.sizes.channels,
        graph=exported.graph,
        rows=exported.rows,
        rows_per_file=ROWS,
        tokenizer=exported.tokenizer,
        pooling=exported.pooling,
        single=OpenedText(single.view, single.summary, single.selection),
        pair=OpenedText(pair.view, pair.summary, pair.selection),
        priors=places(prior, single.view),
    )


def _picture(backend: LocalBackend, request: TraceRequest, entry: SiteEntry) -> RecordedPicture:
    """Return the picture of an image file; the file's name is its title."""
    file = Path(entry.value)
    trace = backend.trace(replace(request, picture=read_picture(file)))
    return RecordedPicture(trace, label_of(file.stem), caption=label_of(entry.caption))


def _add_lesson(folder: SiteFolder, name: str, lesson: Lesson, live: CheckInput | None) -> None:
    """Add a lesson with the texts that its steps show; lessons name their own models.

    ``live`` has the model and the revision that run in the browser, if any.
    """
    models = LocalBackend()

    def record(read: CheckInput) -> str:
        request = TraceRequest(**read.request_fields, target=read.target or None)
        trace = models.trace(request)
        prior = positional_prior_of(models, request, trace)
        return folder.add_text(_text_of_trace(trace, prior, read.part or None, name), listed=False)

    from headlight.site_lessons import lesson_content, record_step

    steps = [record_step(step, models, cache(record)) for step in lesson.steps]
    contents = {}
    for code in folder.languages:
        with use_language(code):
            contents[code] = lesson_content(name, lesson, steps, folder.add_matrix, live)
    folder.add_lesson(contents)


def _texts(backend: LocalBackend, request: TraceRequest, entry: SiteEntry, asked: Any) -> list[RecordedText]:
    """Return the variants of a text."""
    variants, found = variants_of(text_of(entry.value) or ""), []
    for text, word in variants:
        its = replace(request, text=text)
        trace = read_trace(backend, its, asked.truncate)
        prior = positional_prior_of(backend, its, trace)
        made = _text_of_trace(trace, prior, asked.part, variants[0][0])
        found.append(replace(made, label=word, caption=label_of(entry.caption)))
    return found


def refuse_folder(folder: Path) -> None:
    """Raise CommandError if a folder contains files that ``headlight site`` did not write."""
    if folder.exists() and not folder.is_dir():
        raise CommandError(f"{folder} is a file. Give the path of a new folder.")
    index = folder / "index.html"
    own = index.is_file() and MARK in index.read_text(encoding="utf-8", errors="replace")
    if folder.is_dir() and any(folder.iterdir()) and not own:
        raise CommandError(f"{folder} has files that are not those of a site. Give a new or an empty folder.")


def write_site(folder: Path, files: dict[str, bytes]) -> None:
    """Write the files of a site, delete those of an earlier site; raise CommandError if that fails."""
    earlier = [file for pattern in OWN_FILES for file in folder.glob(pattern)]
    try:
        for name in files:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
        for file in earlier:
            file.unlink()
    except OSError as error:
        raise CommandError(f"{folder} cannot be written: {error.strerror}.") from error
    for name, content in files.items():
        write_file(folder / name, content)


def _text_of_trace(trace: Trace, prior: PositionalPrior | None, part: str | None, title: str) -> RecordedText:
    """Return a text for the site with the selection that the app would open."""
    if part is not None and part not in trace.parts:
        raise CommandError(f'This model has no part "{part}"; it has {", ".join(trace.parts)}.')
    shown = Shown(trace, known=prior if part in (None, trace.part) else None, part=part)
    return RecordedText(shown.view, shown.summary, shown.selection, title, priors=places(shown.known, shown.view))


def _variants(backend: LocalBackend, request: TraceRequest, asked: argparse.Namespace) -> list[RecordedText]:
    """Return the two texts of the famous pair, each with a sentence on the heads that switch."""
    traces = [read_trace(backend, replace(request, text=text), asked.truncate) for text in FAMOUS.texts]
    prior = positional_prior_of(backend, replace(request, text=FAMOUS.texts[0]), traces[0])
    texts = [_text_of_trace(trace, prior, asked.part, FAMOUS.texts[0]) for trace in traces]
    found = [_strengths(text.view, prior) for text in texts]
    both = [strengths for strengths in found if strengths is not None]
    made = []
    for at, text in enumerate(texts):
        selection, note = text.selection, ""
        if len(both) == len(texts):
            selection = {**selection, **_strongest(texts[0].view, both[0])}
            note = _describe(both[1 - at], both[at], (FAMOUS.words[1 - at], FAMOUS.words[at]))
        made.append(replace(text, label=FAMOUS.words[at], note=note, selection=selection))
    return made


def _cells(view: View) -> tuple[int, int, int] | None:
    """Return the cells of the source and of both candidates, or None if the view lacks a word."""
    texts = ["" if cell.special else cell.text.strip().casefold() for cell in view.keys]
    words = (FAMOUS.source, *FAMOUS.candidates)
    if view.crosses or not set(words) <= set(texts):
        return None
    source, first, second = map(texts.index, words)
    return source, first, second


def _strengths(view: View, prior: PositionalPrior | None) -> Any:
    """Return both candidates' weights above baseline, (candidate, layer, head), or None without the words.

    The measure is the default of the app, so the same heads switch there.
    """
    words = replace(view, words=True)
    cells = _cells(words)
    if cells is None:
        return None
    usual, placed = expected_links(words, summarize_heads(words, SMALL_MAP), prior, cells[0], cells[1:])
    return weight_above_expected(links(words, cells[0], cells[1:]), usual, placed)


def _strongest(view: View, strengths: Any) -> dict[str, Any]:
    """Return the head with the first candidate furthest above baseline, and the token of the source."""
    layer, head = np.unravel_index(int(np.nan_to_num(strengths[0], nan=-1).argmax()), strengths[0].shape)
    words = replace(view, words=True)
    cells = _cells(words)
    assert cells is not None
    return {"layer": int(layer), "head": int(head), "focus": words.queries[cells[0]].pieces[0]}


def _describe(before: Any, now: Any, words: tuple[str, str]) -> str:
    """Return a sentence on the heads that prefer another candidate in the text with the second of the two words."""
    return gettext_lazy(
        "From “{before}” to “{now}”, {many} of {size} heads switch between {first} and {second} (weight above "
        "baseline, by over {least} in each text).",
        before=words[0],
        now=words[1],
        many=int(flips(preference(before), preference(now)).sum()),
        size=int(np.isfinite(now[0]).sum()),
        first=FAMOUS.candidates[0],
        second=FAMOUS.candidates[1],
        least=percentage_points(f"{100 * LEAST:.1f}"),
    )
