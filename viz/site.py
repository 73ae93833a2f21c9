"""A static site of recorded texts: a folder of files for any web host, without a server.

The folder needs no build tools and makes no request to another host. viz/site_text.py and viz/site_picture.py make the
files of its entries.
"""

from __future__ import annotations

import hashlib
import html
import json
from collections.abc import Mapping, Sequence
from typing import Any

from i18n import ENGLISH, _, active_language, language_name, translate, use_language
from viz.components.explore.content import style
from viz.components.script import escape_json, own_source, script, stylesheet, translated_words
from viz.components.standalone.standalone import UNSCRIPTED, caption_pairs
from viz.export import caption
from viz.site_text import RecordedText, text_file

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'"
)
STORED = 1_000_000  # bytes that the service worker stores at once; more are stored only if a reader opens their texts


def site_files(
    texts: Sequence[RecordedText], title: str, citation: str = "", languages: Sequence[str] = (ENGLISH,)
) -> dict[str, bytes]:
    """Return the files of a site, by their path in its folder.

    The names of scripts and texts contain a hash of their content, so that a browser never mixes two versions. The page
    opens in the first of the languages; with several it has a switch. Raise TooLong if a text has more than LONGEST
    tokens, and ValueError for no text.
    """
    if not texts:
        raise ValueError("A site needs at least one text.")
    files: dict[str, bytes] = {}
    made = [text_file(text, languages) for text in texts]
    named = [_add(files, "texts/text", "bin", content) for content, _error in made]
    errors = [error for _content, error in made]
    code = _add(files, "site", "js", script("site/site").encode())
    look = _add(files, "site", "css", (stylesheet("standalone/standalone", "site/site") + style()).encode())
    contents = {"languages": [_in_language(one, texts, named, errors) for one in languages]}
    with use_language(languages[0]):
        files["index.html"] = _page(title, citation, contents, code, look).encode()
    files["worker.js"] = _worker(files, named)
    return files


def _add(files: dict[str, bytes], name: str, ending: str, content: bytes) -> str:
    place = f"{name}-{hashlib.sha256(content).hexdigest()[:12]}.{ending}"
    files[place] = content
    return place


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


def _in_language(
    code: str, texts: Sequence[RecordedText], files: Sequence[str], errors: Sequence[float]
) -> dict[str, Any]:
    """Return the messages and the list of texts for site.js in a language."""
    with use_language(code):
        return {
            "code": code,
            "name": language_name(code),
            "words": translated_words("site/site"),
            "texts": _entries(texts, files, errors),
        }


def _entries(texts: Sequence[RecordedText], files: Sequence[str], errors: Sequence[float]) -> list[dict[str, Any]]:
    """Return the list of texts for site.js; texts with equal titles are variants of an entry."""
    entries: dict[str, list[dict[str, Any]]] = {}
    for text, file, error in zip(texts, files, errors, strict=True):
        about = dict(caption_pairs(caption(text.view)))
        about[_("Largest rounding error")] = f"{error:.1g}"
        variant = {
            "file": file,
            "label": text.label,
            "note": translate(text.note),
            "caption": text.caption,
            "about": about,
        }
        entries.setdefault(text.title, []).append(variant)
    return [{"title": title, "variants": variants} for title, variants in entries.items()]


def _page(title: str, citation: str, contents: Mapping[str, Any], code: str, look: str) -> str:
    cited = f'<p id="citation" dir="auto">{html.escape(citation)}</p>' if citation else ""
    return f"""<!doctype html>
<html lang="{active_language()}"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="generator" content="Headlight">
<title>{html.escape(title)}</title>
<link rel="icon" href="data:,"><link rel="stylesheet" href="{look}"></head>
<body><header><h1 dir="auto">{html.escape(title)}</h1><div id="languages"></div></header>
<nav id="texts"></nav>
<div id="variants"></div>
<p id="note"></p><p id="error" role="alert"></p>
<main id="view"><div class="still"><p>{html.escape(translate(UNSCRIPTED))}</p></div></main>
<p id="caption" dir="auto"></p>
<footer><dl id="about"></dl>{cited}<p id="made">{html.escape(_("Made with Headlight."))}</p></footer>
<script type="application/json" id="contents">{escape_json(contents)}</script>
<script type="module" src="{code}"></script>
</body></html>
"""
