"""The view state that all pages share (model, text, selection), as a frozen dataclass stored in the address.

Positions (focus, to) are indices of the model's tokens, so they are the same if tokens are shown as words.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from i18n import error_message, gettext_lazy
from inference.files.embedded import BERT
from ui.paths import ASSETS
from viz.components.explore.options import MicroscopeOptions
from viz.options import Option, option, options_of

# The example sentences of the text box; the first is the default text.
EXAMPLES: list[dict[str, Any]] = [
    example | {"title": gettext_lazy(title)}
    for example in json.loads((ASSETS / "examples.json").read_text(encoding="utf-8"))
    for title in [example["title"]]
]

DEFAULT_MODEL = BERT  # The app's model; commands and Python use inference.EMBEDDED.
LONGEST_LINK = 24_000  # Maximum length of an address that browsers and the server accept.
LONGEST_PLAIN = 1500  # Maximum length of a text in an address that is not compressed.
LONGEST_TEXT = 400_000  # Maximum size of a decompressed link in bytes.
PINNED = 8  # Maximum number of pinned heads.
PINS = re.compile(r"[0-9]{1,4}-[0-9]{1,4}(,[0-9]{1,4}-[0-9]{1,4}){0,7}")
PACKED = "packed"  # Query field of long texts, which are compressed.

VIEWS = ("head", "model", "neuron")
PARTS = ("", "encoder", "decoder", "cross")


@dataclass(frozen=True)
class SelectedText:
    """The model, the texts and the selected link, which are the first fields of an address."""

    model: str = DEFAULT_MODEL
    revision: str = ""
    text: str = EXAMPLES[0]["text"]
    pair: str = ""
    target: str = ""  # Decoder input of a translation model; "" for the model's own translation.
    opened: str = ""  # Trace id of an opened file, which replaces model and text.
    cut: int | None = None
    part: str = option("", choices=PARTS)
    layer: int | None = None
    head: int | None = None
    focus: int | None = None
    to: int | None = None


def example_of(text: str, pair: str) -> dict[str, Any] | None:
    """Return the example with this text and pair, or None."""
    return next((e for e in EXAMPLES if e["text"] == text and e.get("pair", "") == pair), None)


@dataclass(frozen=True)
class ViewState(MicroscopeOptions, SelectedText):
    """The view state that all pages share; if a field is None, the page computes a default."""

    pins: str = ""  # Pinned heads, such as "3-1,4-0".
    words: bool = False
    jieba: bool = False  # Group Chinese characters into dictionary words, if ``words`` is set.
    special: bool = True
    renormalise: bool = False
    bertviz: str = option("head", choices=VIEWS)  # which of BertViz's views its page shows

    def pinned_heads(self) -> list[list[int]]:
        """Return the heads that are pinned next to the selected head, as [[layer, head], …]."""
        pairs = (pin.split("-") for pin in self.pins.split(",") if pin)
        return [[int(layer), int(head)] for layer, head in pairs]


DECLARED = options_of(ViewState)


def to_query(choice: ViewState) -> dict[str, str]:
    """Return a view state as the query of an address; fields that have their default are left out.

    Long texts are compressed. Texts that are too long even so are left out; see ``fits``.
    """
    values = {f.name: getattr(choice, f.name) for f in fields(ViewState) if getattr(choice, f.name) != f.default}
    query = {name: write_value(value) for name, value in values.items()}
    long = {name: query.pop(name) for name in ("text", "pair", "target") if len(query.get(name, "")) > LONGEST_PLAIN}
    if long:
        packed = zlib.compress("\0".join(f"{name}={value}" for name, value in long.items()).encode(), 9)
        query[PACKED] = base64.urlsafe_b64encode(packed).decode().rstrip("=")
    if len(query.get(PACKED, "")) > LONGEST_LINK:
        del query[PACKED]
    return query


def shared_fields(choice: ViewState) -> dict[str, str]:
    """Return the fields that a link to share contains even if they are defaults: the model and a short text.

    ``to_query`` writes a longer text itself, compressed. An opened file replaces model and text, so it needs neither.

    >>> shared_fields(ViewState(model="bert-base-uncased", text="A cat.")), shared_fields(ViewState(opened="a1"))
    ({'model': 'bert-base-uncased', 'text': 'A cat.'}, {})
    """
    if choice.opened:
        return {}
    return {"model": choice.model} | ({"text": choice.text} if len(choice.text) <= LONGEST_PLAIN else {})


def fits(choice: ViewState) -> bool:
    """Return True if a link can contain the view state with its texts."""
    return parse(to_query(choice))[0] == choice


def parse(query: Mapping[str, str]) -> tuple[ViewState, list[str]]:
    """Return the view state in an address's query, and a sentence for each field that could not be read."""
    values: dict[str, Any] = {}
    notes: list[str] = []
    for name, raw in {**query, **_unpack(query.get(PACKED, ""), notes)}.items():
        if name not in DECLARED:
            continue
        try:
            values[name] = _read(name, raw)
        except ValueError as error:
            notes.append(error_message(error))
    return replace(ViewState(), **values), notes


def write_value(value: Any) -> str:
    """Return a value as text for an address; ``read_value`` is the inverse."""
    return ("1" if value else "0") if isinstance(value, bool) else str(value)


def read_value(declared: Option, raw: str) -> Any:
    """Parse the value of an option in an address; raise ValueError if it is invalid."""
    value = _parse_kind(declared, raw)
    if declared.allowed_values is not None and value not in declared.allowed_values:
        raise ValueError(
            gettext_lazy(
                "The link's “{name}” is not valid: {raw!r}; the default is used.", name=declared.name, raw=raw[:40]
            )
        )
    return value


def _parse_kind(declared: Option, raw: str) -> Any:
    """Parse a value of the option's type."""
    if declared.kind == "bool":
        if raw not in ("0", "1"):
            raise ValueError(
                gettext_lazy(
                    "The link's “{name}” is not valid: {raw!r}; the default is used.",
                    name=declared.name,
                    raw=raw[:40],
                )
            )
        return raw == "1"
    if declared.kind.startswith("int"):
        if not (raw.isascii() and raw.isdigit() and len(raw) < 8):
            raise ValueError(
                gettext_lazy(
                    "The link's “{name}” is not valid: {raw!r}; the default is used.",
                    name=declared.name,
                    raw=raw[:40],
                )
            )
        return int(raw)
    return raw


def _read(name: str, raw: str) -> Any:
    value = read_value(DECLARED[name], raw)
    return _pins(value) if name == "pins" else value


def _pins(raw: str) -> str:
    if raw and not PINS.fullmatch(raw):
        raise ValueError(
            gettext_lazy("The link's “{name}” is not valid: {raw!r}; the default is used.", name="pins", raw=raw[:40])
        )
    return raw


def _unpack(packed: str, notes: list[str]) -> dict[str, str]:
    if not packed:
        return {}
    try:
        data = base64.urlsafe_b64decode(packed + "=" * (-len(packed) % 4))
        text = zlib.decompressobj().decompress(data, LONGEST_TEXT).decode()
        pairs = dict(part.split("=", 1) for part in text.split("\0"))
    except (binascii.Error, zlib.error, ValueError):
        notes.append(gettext_lazy("The link's text is damaged; the default is used. Ask for the link again."))
        return {}
    return {name: value for name, value in pairs.items() if name in ("text", "pair", "target")}
