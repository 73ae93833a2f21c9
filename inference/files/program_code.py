"""Program code that a model folder names, which is never run: notes about its replacements."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from i18n import LazyMessage, gettext_lazy
from inference.errors import UserError

_SHOWN = 60  # the longest name of a class that a message contains
_CONFIG_BYTES = 8_000_000
_FAST = "Fast"  # transformers accepts a known name with and without this ending


def code_notes(folder: Path, config: Mapping[str, Any]) -> tuple[LazyMessage, ...]:
    """Return a sentence for each kind of program code that a folder names and transformers replaces."""
    tokenizer_config = _tokenizer_config(folder)
    named = named_tokenizer(config, tokenizer_config)
    unknown = named is not None and (folder / "tokenizer.json").is_file() and not is_known_tokenizer(named)
    notes = []
    if config.get("auto_map") or (tokenizer_config.get("auto_map") and not unknown):
        notes.append(
            gettext_lazy(
                "It has program code of its own, which is not run; the code of transformers for {kind} is, so results"
                " can differ.",
                kind=str(config.get("model_type"))[:_SHOWN],
            )
        )
    if unknown:
        notes.append(
            gettext_lazy(
                "It names the tokenizer class {tokenizer}, which transformers does not know; tokenizer.json is read"
                " without it, so tokens can differ.",
                tokenizer=str(named)[:_SHOWN],
            )
        )
    return tuple(notes)


def refuse_unknown_tokenizer(folder: Path, config: Mapping[str, Any], name: str) -> None:
    """Raise UserError if a folder names an unknown tokenizer class and has no tokenizer.json to read instead."""
    named = named_tokenizer(config, _tokenizer_config(folder))
    if named is None or (folder / "tokenizer.json").is_file() or is_known_tokenizer(named):
        return
    raise UserError(
        gettext_lazy(
            "{name} names the tokenizer class {tokenizer}, which transformers does not know, and has no tokenizer.json."
            " Save its tokenizer as tokenizer.json, or pick another model.",
            name=name,
            tokenizer=named[:_SHOWN],
        ),
        way_out="embedded",
    )


def named_tokenizer(config: Mapping[str, Any], tokenizer_config: Mapping[str, Any]) -> str | None:
    """Return the tokenizer class that a folder names, or None; tokenizer_config.json precedes config.json.

    >>> named_tokenizer({"tokenizer_class": "A"}, {"tokenizer_class": "B"}), named_tokenizer({}, {})
    ('B', None)
    """
    named = tokenizer_config.get("tokenizer_class") or config.get("tokenizer_class")
    return named if isinstance(named, str) else None


def is_known_tokenizer(named: str) -> bool:
    """Return True if transformers has a tokenizer class of that name, without importing torch if it does."""
    if {named, named.removesuffix(_FAST)} & _transformers_names():
        return True
    from transformers.models.auto.tokenization_auto import tokenizer_class_from_name

    return tokenizer_class_from_name(named) is not None or tokenizer_class_from_name(named + _FAST) is not None


@cache
def _transformers_names() -> frozenset[str]:
    """Return the names in transformers; it lists them without importing its modules."""
    import transformers

    return frozenset(dir(transformers))


def _tokenizer_config(folder: Path) -> dict[str, Any]:
    """Return the tokenizer's configuration; empty if it is missing or invalid, which the loader refuses."""
    file = folder / "tokenizer_config.json"
    try:
        content = json.loads(file.read_bytes()) if file.stat().st_size <= _CONFIG_BYTES else None
    except (OSError, ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}
