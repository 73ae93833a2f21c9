"""A guess of the encoding of bytes that are not UTF-8, from the characters that each encoding makes of them.

Single-byte encodings decode nearly anything. A wrong encoding shows itself by symbols and capitals inside words, words
of two scripts, and control characters.
"""

from __future__ import annotations

import re
import unicodedata

LEAST_FOR_STATISTICS, SAMPLED = 100, 50_000  # bytes that charset-normalizer needs; bytes that are looked at
FEW = 3  # damaged characters, below which only cp1252 is considered
VARIED = 8  # different bytes beyond ASCII, below which the statistics of a language decide last
MOST_ODD = 0.1  # share of characters beyond ASCII that may look wrong
MOST_ACCENTS = 0.15  # share of bytes beyond ASCII in Western European texts
LEAST_CONTROLS = 0.1  # share of control characters in UTF-16 that is also valid UTF-8
SINGLE_BYTE = ("cp1252", "mac_roman", "cp1250", "iso8859_2", "cp850", "cp1251", "koi8_r", "mac_cyrillic", "cp866",
               "iso8859_5", "cp1253", "cp1255")  # fmt: skip
WIDE = ("utf_16_le", "utf_16_be", "utf_32_le", "utf_32_be")
OPENING, CLOSING, BETWEEN = "“‘„‚«‹¿¡£€§", "”’“»›…™®©°ºª¹²³", "’‘–—\xad·"  # beside a letter on which side
EAST_ASIAN = "\u2e80"  # the first of these characters
DRAWN, HALF_WIDTH, PRIVATE = ("\u2500", "\u259f"), ("\uff61", "\uff9f"), ("\ue000", "\uf8ff")  # first and last


def guess(content: bytes) -> str | None:
    """Return the likeliest encoding of bytes; None if they are UTF-8 with errors, or not text.

    >>> guess("Un café noir.".encode("latin-1")), guess("Schön für die Straße".encode("mac_roman"))
    ('cp1252', 'mac_roman')
    """
    if b"\0" in content:
        return _guess_wide_encoding(content)
    replaced = content.decode("utf-8", "replace")
    wrong = replaced.count("\ufffd")
    right = len(re.findall("[^\0-\x7f\ufffd]", replaced))
    if right >= wrong:
        return None
    sample = b"".join(re.findall(rb"[^\n]*[\x80-\xff][^\n]*\n?", content))[:SAMPLED]
    statistical = _statistical_guess(sample) if wrong >= FEW else None
    candidates = SINGLE_BYTE if wrong >= FEW else SINGLE_BYTE[:1]
    if statistical is not None:
        varied = len(set(re.findall(rb"[\x80-\xff]", sample))) >= VARIED
        candidates = (statistical, *candidates) if varied else (*candidates, statistical)
    shares = {coding: share for coding in candidates if (share := _odd_shares(sample, coding)) is not None}
    best = min(shares, key=lambda coding: shares[coding], default=None)  # the first of equals
    if best is not None and shares[best][0] > MOST_ODD:
        accents = len(re.findall(rb"[\x80-\xff]", content))
        best = "cp1252" if wrong >= FEW and accents < MOST_ACCENTS * len(content) else None
    if b"\xff" in content and best == "cp1252":
        return None
    if best == "cp1252" and not fits(content, best):
        return "latin_1"  # which has a character for all bytes
    return best if best is not None and fits(content, best) else None


def _guess_wide_encoding(content: bytes) -> str | None:
    """Return UTF-16 or UTF-32 if bytes without a mark are text in it, the byte order with most ASCII characters."""
    if fits(content, "utf-8"):
        controls = len(re.findall(rb"[\0-\x08\x0e-\x1f]", content))
        if controls < LEAST_CONTROLS * len(content):
            return None
    found: dict[str, int] = {}
    for coding in WIDE:
        if fits(content, coding):
            text = content.decode(coding)
            kinds = {unicodedata.category(letter) for letter in set(text) - set("\t\n\r\x1a")}
            if re.search("[\r\n]", text) and not kinds & {"Cc", "Cn", "Co", "Cs"}:
                found[coding] = len(re.findall("[\t\n\r -~]", text))
    return max(found, key=lambda coding: found[coding], default=None)


def _statistical_guess(sample: bytes) -> str | None:
    """Return the encoding that charset-normalizer finds if it recognises a language of another script than Latin."""
    from charset_normalizer import from_bytes

    best = from_bytes(sample).best() if len(sample) >= LEAST_FOR_STATISTICS else None
    if best is None or best.language == "Unknown":
        return None
    scripts = [_script(letter) for letter in str(best) if letter > "\x7f" and letter.isalpha()]
    return best.encoding if 2 * scripts.count("LATIN") < len(scripts) else None


def fits(content: bytes, coding: str) -> bool:
    """Return whether an encoding has a character for all bytes."""
    try:
        content.decode(coding)
    except UnicodeDecodeError:
        return False
    return True


def _odd_shares(sample: bytes, coding: str) -> tuple[float, float] | None:
    """Return the shares of characters beyond ASCII that look wrong, and that are accented Latin letters in a row."""
    text = sample.decode(coding, "replace")
    padded = f" {text} "
    odd = [_is_odd(*padded[at : at + 3]) for at, letter in enumerate(text) if letter > "\x7f"]
    row = sum(map(len, re.findall("[\xc0-\u024f]{3,}", text)))
    return (round(sum(odd) / len(odd), 2), round(row / len(odd), 1)) if odd else None


def _is_odd(before: str, letter: str, after: str) -> bool:
    """Return whether a character looks wrong between its neighbours.

    >>> _is_odd("f", "é", " "), _is_odd("f", "Ž", " "), _is_odd("n", "¿", "o"), _is_odd("h", "д", "t")
    (False, True, True, True)
    """
    if letter >= EAST_ASIAN or DRAWN[0] <= letter <= DRAWN[1]:
        return letter == "\ufffd" or any(low <= letter <= high for low, high in (DRAWN, HALF_WIDTH, PRIVATE))
    if unicodedata.category(letter) in ("Lu", "Ll", "Lt", "Lm", "Lo") and letter not in CLOSING:
        neighbours = [other for other in (before, after) if other.isalpha()]
        if not neighbours:
            return before.isdigit() or after.isdigit()
        return (letter.isupper() and before.islower()) or any(_script(letter) != _script(n) for n in neighbours)
    if letter == "\xa0":
        return before.isspace() or after.isspace()
    left = before.isalpha() and letter not in CLOSING + BETWEEN
    right = after.isalpha() and letter not in OPENING + BETWEEN
    return left or right or unicodedata.category(letter) == "Cc"


def _script(letter: str) -> str:
    """Return the script of a letter by the first word of its name, such as LATIN."""
    return unicodedata.name(letter, "NONE").split()[0]
