"""Decoding of uploaded text files, and the choice of an encoding for files that are not Unicode."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from i18n import _, gettext_lazy, translate
from inference import UserError
from probing.text_files import (
    decode_text,
    decoded_or_guessed,
    guess_message,
    guessed_encoding,
    needs_no_guess,
    refuse_zero_bytes,
)
from ui.run.notices import show_notice

MOST_BYTES = 64_000_000
TABLES = ["csv", "tsv", "txt", "jsonl", "parquet"]  # Suffixes of supported tables.
ENCODINGS: dict[str, tuple[str, str]] = {  # name for Python: (name, script, empty for Unicode)
    "utf-8": ("UTF-8", ""),
    "cp1252": ("cp1252", gettext_lazy("Western European")),
    "mac_roman": ("Mac", gettext_lazy("Western European")),
    "cp850": ("DOS", gettext_lazy("Western European")),
    "cp1250": ("cp1250", gettext_lazy("Central European")),
    "iso8859_2": ("Latin-2", gettext_lazy("Central European")),
    "cp1254": ("cp1254", gettext_lazy("Turkish")),
    "cp1251": ("cp1251", gettext_lazy("Cyrillic")),
    "koi8_r": ("KOI8-R", gettext_lazy("Cyrillic")),
    "cp1253": ("cp1253", gettext_lazy("Greek")),
    "cp1255": ("cp1255", gettext_lazy("Hebrew")),
    "cp1256": ("cp1256", gettext_lazy("Arabic")),
    "gb18030": ("GB18030", gettext_lazy("Chinese")),
    "big5": ("Big5", gettext_lazy("Chinese")),
    "cp932": ("Shift-JIS", gettext_lazy("Japanese")),
    "euc_jp": ("EUC-JP", gettext_lazy("Japanese")),
    "cp949": ("cp949", gettext_lazy("Korean")),
    "utf_16_le": ("UTF-16, LE", ""),
    "utf_16_be": ("UTF-16, BE", ""),
}


def decode(data: bytes) -> str:
    """Decode an uploaded UTF-8 file, or a UTF-16 file with a byte order mark, to its text.

    Raise UserError if the file is empty, too large or binary.

    >>> decode("déjà".encode("utf-16"))
    'déjà'
    """
    _refuse_size(data)
    text = decode_text(data)
    refuse_zero_bytes(text)
    return text


def decode_table(data: bytes, encoding: str = "") -> str:
    """Decode a table in the given or a guessed encoding; convert Parquet to JSON Lines.

    Raise UserError if the file is empty, too large or not readable.

    >>> decode_table("a,b\\r\\ndéjà,vu".encode("latin-1"))
    'a,b\\ndéjà,vu'
    """
    _refuse_size(data)
    return decoded_or_guessed(data, encoding)[0]


def pick_encoding(key: str, file_id: str, name: str, read: Callable[[], bytes], before: str | None = None) -> str:
    """Draw a widget that selects the encoding of a file; return the encoding, or "" to guess it.

    For a Unicode file, draw nothing and return "". ``key`` is the widget key, ``file_id`` identifies the file's
    content, and ``name`` is its name. ``read`` returns the content and is called once for each file. A page that shows
    the guessed encoding itself passes ``before``, the encoding in its last run.
    """
    kept = st.session_state.get(f"{key}_guess")
    if kept is None or kept[0] != file_id:
        data = read()
        kept = st.session_state[f"{key}_guess"] = (file_id, needs_no_guess(data), guessed_encoding(data))
        st.session_state.pop(key, None)
    _id, unicode, guess = kept
    if unicode:
        return ""
    options = ["", *ENCODINGS]
    picked: str = st.selectbox(
        _("Encoding"),
        options,
        index=options.index(before or ""),
        key=key,
        format_func=lambda coding: _encoding_name(coding or guess),
        help=_("How the file stores letters"),
    )
    if guess and not picked and before is None:
        show_notice(guess_message(name, guess), role="status")
    return picked


def _encoding_name(coding: str) -> str:
    """Return the name of an encoding, or "Not found" for an empty one."""
    code, script = ENCODINGS.get(coding, (coding or _("Not found"), ""))
    return _("{name} ({detail})", name=translate(script), detail=code) if script else code


def _refuse_size(data: bytes) -> None:
    if not data.strip():
        raise UserError(gettext_lazy("The file is empty. Add a sentence per line, or a table."))
    if len(data) > MOST_BYTES:
        raise UserError(
            gettext_lazy(
                "The file has {megabytes:,.0f} MB; the limit is {most:,.0f}. Split it.",
                megabytes=len(data) / 1e6,
                most=MOST_BYTES / 1e6,
            )
        )
