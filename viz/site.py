"""A static site of recorded texts: a folder of files for any web host, without a server.

The folder needs no build tools and makes no request to another host. viz/site_entries.py makes
the files of its entries.
"""

from __future__ import annotations

import gzip
import hashlib
import html
import json
from collections.abc import Mapping, Sequence
from typing import Any

from i18n import ENGLISH, _, active_language, language_name, translate, typeset_number, use_language
from viz.components.explore.content import style
from viz.components.script import escape_json, own_source, script, stylesheet, translated_words
from viz.components.standalone.standalone import UNSCRIPTED, caption_pairs
from viz.export import caption
from viz.site_entries import RecordedPicture, RecordedText, photo_file, picture_file, text_file
from viz.site_live import LiveMasks, LiveModel, live_files, mask_files

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'"
)
LIVE_POLICY = POLICY.replace("script-src 'self'", "script-src 'self' 'wasm-unsafe-eval'")  # for onnxruntime-web
STORED = 1_000_000  # bytes that the service worker stores at once; more are stored only if a reader opens their texts


class SiteFolder:
    """The files of a site under construction, by their path in its folder.

    The names of scripts and texts contain a hash of their content, so that a browser never mixes two versions. The page
    opens in the first of the languages; if there are several, it has a switch.
    """

    def __init__(self, languages: Sequence[str] = (ENGLISH,)) -> None:
        self.languages = languages
        self.files: dict[str, bytes] = {}
        self._entries: list[tuple[RecordedText | RecordedPicture, str, float]] = []
        self._lessons: list[tuple[Mapping[str, Any], str]] = []
        self._live: dict[str, Any] | None = None
        self._parts: dict[str, str] = {}  # components with a script of their own, which the page loads on demand

    @property
    def entries(self) -> int:
        """Return the number of texts and pictures that the page lists."""
        return len(self._entries)

    def add_text(self, text: RecordedText, *, listed: bool = True) -> str:
        """Add a text and return the name of its file; the page lists it if ``listed``.

        Raise TooLong if the text has more than LONGEST tokens.
        """
        content, error = text_file(text, self.languages)
        name = self._add("texts/text", "bin", content)
        if listed:
            self._entries.append((text, name, error))
        return name

    def add_picture(self, picture: RecordedPicture) -> None:
        """Add a picture; raise TooLong if it has more than LONGEST tokens."""
        self._parts["picture"] = "picture/picture"
        photo = photo_file(picture)
        address = self._add("texts/photo", "png" if photo.startswith(b"\x89PNG") else "jpg", photo)
        content, error = picture_file(picture, address, self.languages)
        self._entries.append((picture, self._add("texts/picture", "bin", content), error))

    def add_matrix(self, content: bytes) -> str:
        """Add the data of matrices.js and return the name of its file."""
        self._parts["matrices"] = "matrices/matrices"
        return self._add("lessons/matrix", "bin", gzip.compress(content, mtime=0))

    def add_lesson(self, contents: Mapping[str, Any]) -> None:
        """Add a lesson.

        ``contents`` maps each language to the lesson, a typedef Lesson of viz/components/site/lesson.js.
        """
        name = self._add("lessons/lesson", "json", json.dumps(contents, ensure_ascii=False).encode())
        self._lessons.append((contents, name))

    def add_live(self, model: LiveModel, masks: LiveMasks | None = None) -> None:
        """Add models that readers can run in the browser; raise NoVendor if their scripts are missing."""
        self._live = live_files(model, self._add, self.languages)
        if masks is not None:
            self._live["masks"] = mask_files(masks, self._add)

    def finish(self, title: str, citation: str = "") -> dict[str, bytes]:
        """Return all files by path, including the page, its script and its service worker.

        Raise ValueError if the site has neither an entry nor a lesson.
        """
        if not self._entries and not self._lessons:
            raise ValueError("A site needs at least one text or lesson.")
        optional = [name for name in self.files if not name.startswith("live/")]
        matrices = ["matrices/matrices"] if self._live else []  # the table of similarity
        parts = {name: self._add(name, "js", script(path).encode()) for name, path in self._parts.items()}
        code = self._add("site", "js", script("site/site").encode())
        look = (
            stylesheet("standalone/standalone", "site/site", *dict.fromkeys([*self._parts.values(), *matrices]))
            + style()
        )
        sheet = self._add("site", "css", look.encode())
        contents = {"languages": [self._in_language(code) for code in self.languages], "parts": parts}
        if self._live is not None:
            contents["live"] = self._live
        with use_language(self.languages[0]):
            self.files["index.html"] = _page(title, citation, contents, code, sheet).encode()
        unasked = {name: content for name, content in self.files.items() if not name.startswith("live/")}
        self.files["worker.js"] = _worker(unasked, optional)
        return self.files

    def _add(self, name: str, ending: str, content: bytes) -> str:
        place = f"{name}-{hashlib.sha256(content).hexdigest()[:12]}.{ending}"
        self.files[place] = content
        return place

    def _in_language(self, code: str) -> dict[str, Any]:
        """Return the messages and the lists of texts and lessons for site.js in a language."""
        about = ("name", "title", "group", "minutes", "audience", "about")
        with use_language(code):
            return {
                "code": code,
                "name": language_name(code),
                "words": translated_words("site/site"),
                "texts": _entries(self._entries),
                "lessons": [
                    {**{field: lesson[code][field] for field in about}, "file": file, "asked": _questions(lesson[code])}
                    for lesson, file in self._lessons
                ],
            }


def site_files(
    texts: Sequence[RecordedText], title: str, citation: str = "", languages: Sequence[str] = (ENGLISH,)
) -> dict[str, bytes]:
    """Return the files of a site that shows ``texts``, by their path in the site's folder.

    The parameters are those of ``SiteFolder`` and its method ``finish``.
    """
    folder = SiteFolder(languages)
    for text in texts:
        folder.add_text(text)
    return folder.finish(title, citation)


def _questions(lesson: Mapping[str, Any]) -> list[int]:
    """Return the indices of the steps that ask a question."""
    return [at for at, step in enumerate(lesson["steps"]) if step["question"] is not None]


def _worker(files: Mapping[str, bytes], texts: Sequence[str]) -> bytes:
    """Return the service worker, which stores the page, its scripts and the first texts, at most STORED bytes."""
    version = hashlib.sha256(b"".join(files.values())).hexdigest()[:16]
    stored, room = ["./", *(name for name in files if name not in texts and name != "index.html")], STORED
    room -= sum(len(content) for name, content in files.items() if name not in texts)
    for name in dict.fromkeys(texts):
        room -= len(files[name])
        if room >= 0:
            stored.append(name)
    source = own_source("site/worker").replace("SITE_VERSION", version)
    return source.replace('["SITE_FILES"]', json.dumps(stored)).encode()


def _entries(texts: Sequence[tuple[RecordedText | RecordedPicture, str, float]]) -> list[dict[str, Any]]:
    """Return the list of texts for site.js; texts with equal titles are variants of an entry."""
    entries: dict[str, list[dict[str, Any]]] = {}
    for text, file, error in texts:
        about = dict(caption_pairs(caption(text.view)))
        about[_("Largest rounding error")] = typeset_number(f"{error:.1g}")
        model = _("Model: {name}", name=text.view.trace.model.name)
        variant = {
            "file": file,
            "kind": "picture" if isinstance(text, RecordedPicture) else "text",
            "label": text.label,
            "note": " · ".join(filter(None, (model, translate(text.note)))),
            "caption": text.caption,
            "about": about,
        }
        entries.setdefault(text.title, []).append(variant)
    return [{"title": title, "variants": variants} for title, variants in entries.items()]


def _page(title: str, citation: str, contents: Mapping[str, Any], code: str, look: str) -> str:
    live = '<section id="live"></section><section id="masks"></section>' if "live" in contents else ""
    cited = f'<p id="citation" dir="auto">{html.escape(citation)}</p>' if citation else ""
    return f"""<!doctype html>
<html lang="{active_language()}"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{LIVE_POLICY if live else POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="generator" content="Headlight">
<title>{html.escape(title)}</title>
<link rel="icon" href="data:,"><link rel="stylesheet" href="{look}"></head>
<body><header><h1 dir="auto">{html.escape(title)}</h1><div id="languages"></div></header>
<nav id="texts"></nav>
<div id="variants"></div>{live}
<p id="note"></p><p id="error" role="alert"></p>
<div id="stage"><section id="lesson" hidden></section>
<main id="view"><div class="still"><p>{html.escape(translate(UNSCRIPTED))}</p></div></main></div>
<div id="worksheet"></div><p id="caption" dir="auto"></p>
<footer><dl id="about"></dl>{cited}<p id="made">{html.escape(_("Made with Headlight."))}</p></footer>
<script type="application/json" id="contents">{escape_json(contents)}</script>
<script type="module" src="{code}"></script>
</body></html>
"""
