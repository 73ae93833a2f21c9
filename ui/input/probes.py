"""Probes: prepared questions of the form "Which head links these words?", from the app or from a file."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass, replace
from typing import Any

from i18n import _, gettext_lazy, translate
from ui.paths import ASSETS

MOST_BYTES = 1_000_000  # bytes of a file of probes
MOST_PROBES = 500
LONGEST = 2_000  # characters of each text of a probe
HALF = re.compile("[\ud800-\udfff]")
OWN = gettext_lazy("My own")  # default family of a reader's probes


@dataclass(frozen=True)
class Probe:
    """A prepared question about heads: a text with a source word and two candidates.

    It may have a changed text, and rewordings that should not matter. In the library, the first candidate is right in
    ``text``.
    """

    name: str
    text: str
    source: str
    candidates: tuple[str, str]
    other: str = ""
    neutral: tuple[str, ...] = ()
    family: str = OWN
    language: str = ""
    note: str = ""
    other_right: str = ""  # the candidate that is right in ``other``, if that is known

    def title(self) -> str:
        """Return the translated name of the probe, with the family that it belongs to."""
        return _("{family}: {name}", family=translate(self.family), name=translate(self.name))


def parse_probes(data: bytes) -> tuple[Probe, ...]:
    """Parse a file that ``dump_probes`` wrote. Raise ValueError with a sentence if the file is invalid.

    >>> parse_probes(dump_probes([Probe("cat", "The cat sat.", "sat", ("cat", "the"))]))[0].source
    'sat'
    """
    if len(data) > MOST_BYTES:
        raise ValueError(
            gettext_lazy(
                "The file has {size:,} bytes; the limit is {most:,}. Split it.", size=len(data), most=MOST_BYTES
            )
        )
    try:
        entries = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise ValueError(gettext_lazy("The file is not JSON. Open one saved here.")) from error
    if not isinstance(entries, list) or len(entries) > MOST_PROBES:
        raise ValueError(
            gettext_lazy("Expected a list of at most {most} probes. Save one here to see the form.", most=MOST_PROBES)
        )
    return tuple(_probe(entry, at) for at, entry in enumerate(entries, 1))


def dump_probes(probes: list[Probe]) -> bytes:
    """Return probes as a JSON file for ``parse_probes``."""
    return json.dumps([asdict(probe) for probe in probes], ensure_ascii=False, indent=1).encode()


def _probe(entry: Any, at: int) -> Probe:
    fields = entry if isinstance(entry, dict) else {}
    names = ("name", "text", "source", "other", "other_right", "family", "language", "note")
    texts = {name: fields.get(name, "") for name in names}
    candidates, neutral = fields.get("candidates", []), fields.get("neutral", [])
    lists = isinstance(candidates, list) and isinstance(neutral, list)
    words = [*candidates, *neutral] if lists else [None]
    if not lists or len(candidates) != 2 or not all(map(_fits, (*texts.values(), *words))):
        raise ValueError(
            gettext_lazy(
                "Probe {number} needs name, text, source and two candidates (other and neutral are "
                "optional), each up to {most:,} characters. Correct it.",
                number=at,
                most=LONGEST,
            )
        )
    if not (texts["name"] and texts["text"] and texts["source"]):
        raise ValueError(gettext_lazy("Probe {number} lacks its name, text or source word. Add it.", number=at))
    family = texts.pop("family") or OWN
    return Probe(**texts, family=family, candidates=(candidates[0], candidates[1]), neutral=tuple(neutral))


def _fits(text: Any) -> bool:
    """Return whether a value is a text that a page can show.

    JSON may contain a lone surrogate, which no page can show.
    """
    return isinstance(text, str) and len(text) <= LONGEST and not HALF.search(text)


LIBRARY: tuple[Probe, ...] = tuple(
    replace(probe, family=gettext_lazy(probe.family), name=gettext_lazy(probe.name), note=gettext_lazy(probe.note))
    for probe in parse_probes((ASSETS / "probes.json").read_bytes())
)


def probe_of(text: str, probes: tuple[Probe, ...]) -> Probe | None:
    """Return the probe with this text, or None."""
    return next((probe for probe in probes if probe.text == text), None)
