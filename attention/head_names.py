"""Labels of attention heads, and names, words and numbers as typed.

Heads are typed as "3-1", "L3H1", "layer 3 head 1" or "第3层头1".
"""

from __future__ import annotations

import re
import unicodedata

from i18n import gettext_lazy

NUMBER = r"([0-9]{1,3})"
SIGN = r"[-‐‑‒–—―−.·・•/:,、;|_]"
BETWEEN = rf"\s*(?:{SIGN}\s*)?"  # separator between layer and head, and between a keyword and its number
FORMS = (
    # 3-1, 3.1, 3/1, 3 1, head 3-1
    re.compile(rf"(?:(?:head|(?:注意力)?[头頭])\s*)?{NUMBER}\s*(?:{SIGN}\s*|\s){NUMBER}"),
    # L3H1, layer 3 head 1, head 3-1
    re.compile(rf"(?:layer|l){BETWEEN}{NUMBER}{BETWEEN}(?:head|h){BETWEEN}{NUMBER}"),
    # 第3层头1, 第3层第1个头, 层3头1
    re.compile(
        rf"(?:第\s*{NUMBER}\s*[层層]|[层層]{BETWEEN}{NUMBER}){BETWEEN}的?\s*"
        rf"(?:(?:注意力)?[头頭]{BETWEEN}{NUMBER}|第?\s*{NUMBER}\s*[个個号號]?\s*(?:注意力)?[头頭])"
    ),
)
HEAD_FIRST = re.compile(rf"(?:head|h){BETWEEN}{NUMBER}{BETWEEN}(?:(?:of|in)\s+)?(?:layer|l){BETWEEN}{NUMBER}")
GROUPED = re.compile(r"[+-]?[1-9][0-9]{0,2}([.,][0-9]{3}){2,}|[+-]?[1-9][0-9]{0,2},[0-9]{3}")
LONGEST_QUOTED = 40  # characters of a number that a message quotes
LONGEST = 60  # maximum length of a name in characters
BRACKETS = {"(": ")", "[": "]", "<": ">"}
QUOTES, FINAL = "\"'`“”‘’«»‹›「」『』 ", ".,;:!?。、"
ARTICLE = re.compile(r"(?:the|an?) ")
SPECIAL = re.compile(r"\[(\S+)\]|<(\S+)>")  # a special token, such as [CLS] or <s>


def head_label(layer: int, head: int) -> str:
    """Return the label of a head, such as "3-1"; ``parse_head`` is the inverse.

    >>> head_label(3, 1), parse_head(head_label(3, 1))
    ('3-1', (3, 1))
    """
    return f"{layer}-{head}"


def describe_missing_head(layer: int | None, head: int | None, layers: int, heads: int) -> str:
    """Return the message that a model of ``layers`` × ``heads`` has no such head; an address may lack a number.

    >>> describe_missing_head(9, 40, 6, 12), describe_missing_head(9, None, 6, 12)[:21]
    ('There is no head 9-40; layers are 0 to 5, heads 0 to 11.', 'There is no head 9-?;')
    """
    return gettext_lazy(
        "There is no head {layer}-{head}; layers are 0 to {layers}, heads 0 to {heads}.",
        layer="?" if layer is None else layer,
        head="?" if head is None else head,
        layers=layers - 1,
        heads=heads - 1,
    )


def parse_head(text: str) -> tuple[int, int] | None:
    """Return the layer and head that a text names, counted from 0, or None if it is not a head's name.

    Full-width characters count as their ASCII forms; case and surrounding spaces are ignored.

    >>> parse_head("3-1"), parse_head("L3H1"), parse_head("第3层头1"), parse_head("head 1 of layer 3")
    ((3, 1), (3, 1), (3, 1), (3, 1))
    >>> parse_head("3"), parse_head("-1.2"), parse_head("three")
    (None, None, None)
    """
    if len(text) > LONGEST:
        return None
    plain = unicodedata.normalize("NFKC", text).strip().casefold()
    if plain[:1] in BRACKETS and plain.endswith(BRACKETS[plain[0]]):
        plain = plain[1:-1].strip()
    for form in FORMS:
        if found := form.fullmatch(plain):
            layer, head = (int(number) for number in found.groups() if number is not None)
            return layer, head
    if found := HEAD_FIRST.fullmatch(plain):
        return int(found[2]), int(found[1])
    return None


def fold_text(text: str) -> str:
    """Return a text in Unicode's form NFKC, without differences of case, and with single spaces.

    >>> fold_text("The  Ａnimal ")
    'the animal'
    """
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def normalize_word(text: str) -> str:
    """Return a typed word in the form in which words are compared.

    Case, quotes, spaces, final punctuation, brackets around a token and a leading article do not count, unless nothing
    else is left. ``normalizeWord`` in viz/components/site/question.js has the same rule.

    >>> normalize_word("The “dog”."), normalize_word("an  Apple"), normalize_word("the"), normalize_word("?")
    ('dog', 'apple', 'the', '?')
    >>> normalize_word("[CLS]"), normalize_word("<s>"), normalize_word("[]")
    ('cls', 's', '[]')
    """
    plain = fold_text(text)
    word = plain.strip(QUOTES).rstrip(FINAL + QUOTES)
    if special := SPECIAL.fullmatch(word):
        return special[1] or special[2]
    return ARTICLE.sub("", word, count=1).lstrip(QUOTES) if ARTICLE.match(word) else word or plain


def describe_ambiguous_number(typed: str) -> str | None:
    """Return a message if one of the typed numbers may have separators of thousands or a decimal comma, else None.

    A fraction has two numbers. A number that begins with 0, or with a single point, has one reading.

    >>> describe_ambiguous_number("1,500")
    '“1,500” may be thousands or a fraction; type 1500 or 1.5.'
    >>> describe_ambiguous_number("0,160"), describe_ambiguous_number("1.500")
    (None, None)
    """
    if not any(GROUPED.fullmatch(part.strip()) for part in typed.split("/")):
        return None
    return gettext_lazy(
        "{typed} may be thousands or a fraction; type 1500 or 1.5.", typed=f"“{typed.strip()[:LONGEST_QUOTED]}”"
    )
