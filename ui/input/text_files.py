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
ENCODINGS = {
    "utf-8": gettext_lazy("UTF-8"),
    "cp1252": gettext_lazy("Western European (cp1252)"),
    "mac_roman": gettext_lazy("Western European, Mac"),
    "cp850": gettext_lazy("Western European, DOS"),
    "cp1250": gettext_lazy("Central European (cp1250)"),
    "iso8859_2": gettext_lazy("Central European (Latin-2)"),
    "cp1254": gettext_lazy("Turkish (cp1254)"),
    "cp1251": gettext_lazy("Cyrillic (cp1251)"),
    "koi8_r": gettext_lazy("Cyrillic (KOI8-R)"),
    "cp1253": gettext_lazy("Greek (cp1253)"),
    "cp1255": gettext_lazy("Hebrew (cp1255)"),
    "cp1256": gettext_lazy("Arabic (cp1256)"),
    "gb18030": gettext_lazy("Chinese (GB18030)"),
    "big5": gettext_lazy("Chinese (Big5)"),
    "cp932": gettext_lazy("Japanese (Shift-JIS)"),
    "euc_jp": gettext_lazy("Japanese (EUC-JP)"),
    "cp949": gettext_lazy("Korean (cp949)"),
    "utf_16_le": gettext_lazy("UTF-16, little-endian"),
    "utf_16_be": gettext_lazy("UTF-16, big-endian"),
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
    """Draw the selection of an encoding if a file is not Unicode; return it, or "" to guess.

    ``read`` returns the content and is called once for each file. ``before`` is the encoding in the last run; a page
    passes it if it shows the guess itself.
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
        format_func=lambda coding: translate(ENCODINGS.get(coding or guess, guess or gettext_lazy("Not found"))),
        help=_("How the file stores letters; pick another one if they look wrong"),
    )
    if guess and not picked and before is None:
        show_notice(guess_message(name, guess), role="status")
    return picked


def _refuse_size(data: bytes) -> None:
    if not data.strip():
        raise UserError(
            gettext_lazy("The file is empty; bring a text file with a sentence on each line, or a table such as CSV.")
        )
    if len(data) > MOST_BYTES:
        raise UserError(
            gettext_lazy(
                "The file has {megabytes:,.0f} MB; at most {most:,.0f} are read. Split it.",
                megabytes=len(data) / 1e6,
                most=MOST_BYTES / 1e6,
            )
        )
