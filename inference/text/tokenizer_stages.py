"""What the parts of a tokenizer do, in words, from their own settings. Knows no torch."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from i18n import gettext_lazy


def in_words(component: Any) -> tuple[str, ...]:
    """One short sentence for each thing that a normalizer or pre-tokenizer does, in their order.

    >>> from tokenizers import normalizers
    >>> in_words(normalizers.Sequence([normalizers.NFKC(), normalizers.Lowercase()]))
    ('Unicode NFKC: one way to write what looks alike', 'lower case')
    """
    return () if component is None else tuple(_words(json.loads(component.__getstate__())))


def _words(state: Mapping[str, Any]) -> list[str]:
    kind = str(state.get("type"))
    inner = next((state[name] for name in ("normalizers", "pretokenizers") if name in state), None)
    if inner is not None:
        return [said for part in inner for said in _words(part)]
    said = _SAID.get(kind)
    if said is None:
        return [kind]
    return [said] if isinstance(said, str) else said(state)


def _bert(state: Mapping[str, Any]) -> list[str]:
    strips = state.get("strip_accents")
    done = {
        gettext_lazy("control characters removed, white space made spaces"): state.get("clean_text"),
        gettext_lazy("spaces around Chinese characters"): state.get("handle_chinese_chars"),
        gettext_lazy("accents removed"): state.get("lowercase") if strips is None else strips,
        gettext_lazy("lower case"): state.get("lowercase"),
    }
    return [said for said, does in done.items() if does]


def _replace(state: Mapping[str, Any]) -> list[str]:
    return [
        gettext_lazy(
            "{pattern} replaced by {quoted}", pattern=_pattern(state), quoted=_quote(str(state.get("content")))
        )
    ]


def _pattern(state: Mapping[str, Any]) -> str:
    pattern = state.get("pattern")
    stated = next(iter(pattern.values()), "") if isinstance(pattern, dict) else pattern
    return _quote(str(stated))


def _quote(text: str) -> str:
    return f"“{text}”"


def _bytes(state: Mapping[str, Any]) -> list[str]:
    found = [gettext_lazy("a space put before the text")] if state.get("add_prefix_space") else []
    if state.get("use_regex", True):
        found.append(gettext_lazy("split by GPT-2's pattern: words with the space before them, numbers, punctuation"))
    return [*found, gettext_lazy("every byte written as one character, a space as Ġ")]


def _metaspace(state: Mapping[str, Any]) -> list[str]:
    mark = str(state.get("replacement", "▁"))
    scheme = state.get("prepend_scheme")
    where = {
        "always": gettext_lazy("{mark} put before the text", mark=mark),
        "first": gettext_lazy("{mark} put before the text's beginning", mark=mark),
    }
    found = [gettext_lazy("spaces written as {mark}", mark=mark), *([where[scheme]] if scheme in where else [])]
    return [*found, *([gettext_lazy("split before each {mark}", mark=mark)] if state.get("split", True) else [])]


def _digits(state: Mapping[str, Any]) -> list[str]:
    return [
        gettext_lazy("every digit on its own")
        if state.get("individual_digits")
        else gettext_lazy("numbers apart from letters")
    ]


def _strip(state: Mapping[str, Any]) -> list[str]:
    sides = tuple(side for side in ("left", "right") if state.get(f"strip_{side}"))
    return [_STRIPPED[sides]] if sides else []


_STRIPPED = {
    ("left",): gettext_lazy("white space removed at the left"),
    ("right",): gettext_lazy("white space removed at the right"),
    ("left", "right"): gettext_lazy("white space removed at the left and the right"),
}
_SAID: dict[str, str | Callable[[Mapping[str, Any]], list[str]]] = {
    "BertNormalizer": _bert,
    "NFC": gettext_lazy("Unicode NFC: letters and their accents as one character"),
    "NFD": gettext_lazy("Unicode NFD: letters apart from their accents"),
    "NFKC": gettext_lazy("Unicode NFKC: one way to write what looks alike"),
    "NFKD": gettext_lazy("Unicode NFKD: one way to write what looks alike, letters apart from their accents"),
    "Nmt": gettext_lazy("control characters removed, other spaces made spaces"),
    "Lowercase": gettext_lazy("lower case"),
    "StripAccents": gettext_lazy("accents removed"),
    "Precompiled": gettext_lazy("SentencePiece's own table of replacements"),
    "Strip": _strip,
    "Replace": _replace,
    "Prepend": lambda state: [gettext_lazy("{quoted} put before the text", quoted=_quote(str(state.get("prepend"))))],
    "BertPreTokenizer": gettext_lazy("split at white space, and around each punctuation mark"),
    "Whitespace": gettext_lazy("split into runs of letters, digits and _ and runs of other signs"),
    "WhitespaceSplit": gettext_lazy("split at white space"),
    "Punctuation": gettext_lazy("split around punctuation"),
    "UnicodeScripts": gettext_lazy("split where the script changes"),
    "Digits": _digits,
    "Split": lambda state: [gettext_lazy("split by the pattern {pattern}", pattern=_pattern(state))],
    "CharDelimiterSplit": lambda state: [
        gettext_lazy("split at each {quoted}", quoted=_quote(str(state.get("delimiter"))))
    ],
    "FixedLength": lambda state: [gettext_lazy("split into runs of {many} characters", many=state.get("length"))],
    "ByteLevel": _bytes,
    "Metaspace": _metaspace,
}
