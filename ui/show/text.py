"""Formatting of text on a page: numbers, lists, escaped Markdown, duplicate words."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence

from i18n import _, gettext_lazy, lists, translate, typeset_number
from i18n.lazy import superscript

MARKUP = re.compile(r"([!-/:-@\[-`{-~])")  # ASCII punctuation, which may have a meaning in Markdown

VERDICTS: dict[str, str] = {  # values of ``probing.results.RelationRow.verdict``
    "more": gettext_lazy("more"),
    "less": gettext_lazy("less"),
    "not clearly more": gettext_lazy("no clear difference"),
}

# Places in addresses of pages and of mail, which Streamlit makes links although their punctuation is escaped.
ADDRESS = re.compile(r"(?<=http)(?=:)|(?<=https)(?=:)|(?<=www)(?=\.)|(?=@[-\w]+\.)", re.IGNORECASE)
WORD_JOINER = "\N{WORD JOINER}"  # invisible


def escape_markdown(text: str) -> str:
    r"""Escape a text for Markdown, as a single paragraph; an address in it does not become a link.

    >>> escape_markdown("*a* <b> [x](y)"), ascii(escape_markdown("http://a.b"))
    ('\\*a\\* \\<b\\> \\[x\\]\\(y\\)', "'http\\u2060\\\\:\\\\/\\\\/a\\\\.b'")
    """
    return _escape(" ".join(text.split()))


def _escape(text: str) -> str:
    return MARKUP.sub(r"\\\1", ADDRESS.sub(WORD_JOINER, text))


EMPHASIS = re.compile(
    r"(?<![A-Za-z0-9*])(?P<mark>\*\*|\*|`)(?![\s*`])(?P<inner>[^`]*?[^\s*`])(?P=mark)(?![A-Za-z0-9*])"
)


def escape_except_emphasis(text: str) -> str:
    r"""Escape a text for Markdown as ``escape_markdown`` does, but keep **bold** and *italic*.

    The marks of code are removed, and so are marks that Markdown would not read next to a Chinese character. Next to a
    Latin letter or a digit an asterisk stays, as in 2*3*4. Nothing else of the text is markup: no link, HTML, image or
    formula.

    >>> escape_except_emphasis("Does **it** mean *the cat*? <b> [x](y) 2*3*4")
    'Does **it** mean *the cat*\\? \\<b\\> \\[x\\]\\(y\\) 2\\*3\\*4'
    >>> escape_except_emphasis("个**“b”** **[x](y)** `c`")
    '个“b” **\\[x\\]\\(y\\)** c'
    """
    whole, parts, at = " ".join(text.split()), [], 0
    for found in EMPHASIS.finditer(whole):
        mark, inner = found["mark"], found["inner"]
        ends = (whole[: found.start()][-1:], inner[0]), (whole[found.end() :][:1], inner[-1])
        is_read = mark != "`" and all(not outside.isalnum() or inside.isalnum() for outside, inside in ends)
        mark = mark if is_read else ""
        parts += [_escape(whole[at : found.start()]), mark, _escape(inner), mark]
        at = found.end()
    return "".join([*parts, _escape(whole[at:])])


def remove_emphasis(text: str) -> str:
    """Return a text without the marks that ``escape_except_emphasis`` reads.

    >>> remove_emphasis("Does **it** mean *the cat*? 2*3*4")
    'Does it mean the cat? 2*3*4'
    """
    return EMPHASIS.sub(lambda found: found["inner"], text)


def format_comma_list(parts: Sequence[str]) -> str:
    """Join the parts with commas.

    >>> format_comma_list(["a", "b", "c"]), format_comma_list([])
    ('a, b, c', '')
    """
    return translate(lists.format_comma_list(parts))


def format_semicolon_list(parts: Sequence[str]) -> str:
    """Join the parts with semicolons, for parts that contain commas.

    >>> format_semicolon_list(["a, b", "c"])
    'a, b; c'
    """
    return translate(lists.format_semicolon_list(parts))


def format_and_list(parts: Sequence[str]) -> str:
    """Join the parts with commas and a final "and".

    >>> format_and_list(["a"]), format_and_list(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return translate(lists.format_and_list(parts))


def join_sentences(*said: str) -> str:
    """Join whole sentences; skip empty strings.

    >>> join_sentences("It rains.", "", "It is cold.")
    'It rains. It is cold.'
    """
    return translate(lists.join_sentences(*said))


TOO_FEW = gettext_lazy("Too few texts or words to test: nothing can be significant.")
SMALL = 0.0001  # Probabilities below this value are shown in scientific notation.


def format_small(number: float) -> str:
    """Return a number with two decimals, or with two significant digits if it is below 0.1.

    One digit would hide up to a third of a value: 0.0149 and 0.0051 would both be 0.01.

    >>> format_small(0.4567), format_small(0.0149), format_small(9.83e-7), format_small(0)
    ('0.46', '0.015', '9.8 × 10⁻⁷', '0')
    """
    return typeset_number(f"{number:.2f}" if abs(number) >= 0.0995 else f"{number:.2g}")


def format_share(share: float) -> str:
    """Format a share of attention for a sentence; small shares keep a digit instead of 0%.

    `viz/components/shared/texts.js` formats shares in the same way.

    >>> format_share(0.514), format_share(0.0042), format_share(0.0001), format_share(0)
    ('51%', '0.4%', '<0.1%', '0%')
    """
    if 0 < share < 0.0095:
        return "<0.1%" if share < 0.0005 else f"{share:.1%}"
    return f"{share:.0%}"


def signed_percent(share: float, decimals: int = 0) -> str:
    """Format a weight, or a difference of weights, as a percentage with a true minus sign.

    Without decimals, small shares keep a digit.

    >>> signed_percent(0.27), signed_percent(-0.062), signed_percent(-0.062, 1), signed_percent(0.004)
    ('27%', '−6%', '−6.2%', '0.4%')
    >>> signed_percent(0.0003), signed_percent(-0.0003)
    ('<0.1%', '−0.0%')
    """
    decimals = decimals or int(-0.0005 < share < 0)  # not "−<0.1%"
    size = f"{abs(share):.{decimals}%}" if decimals else format_share(abs(share))
    return f"−{size}" if share < 0 else size


def in_points(difference: float, decimals: int = 0) -> str:
    """Format a difference of two percentages, given as shares, in percentage points.

    A difference of 1 has a decimal, so that the plural is right.

    >>> in_points(0.4), in_points(-0.062), in_points(0.01), in_points(0.004)
    ('40 percentage points', '−6 percentage points', '1.0 percentage points', '0.4 percentage points')
    """
    if not decimals and abs(round(100 * difference)) == 1:
        decimals = int(abs(difference) >= 0.0095)
    return translate(lists.percentage_points(signed_percent(difference, decimals).removesuffix("%")))


def format_strengths(strengths: Sequence[float], are_differences: bool) -> list[str]:
    """Format strengths of links as percentages, or differences of weights as percentage points.

    ``are_differences`` is True for differences, such as weights above a baseline. Only the last of them then has the
    unit, because the texts are joined to a list.

    >>> format_strengths([0.11, 0.4], False), format_strengths([0.11, 0.4], True)
    (['11%', '40%'], ['11', '40 percentage points'])
    """
    if not are_differences:
        return [signed_percent(strength) for strength in strengths]
    return [*(signed_percent(strength).removesuffix("%") for strength in strengths[:-1]), in_points(strengths[-1])]


def decimals_of_difference(whole: float, part: float) -> int:
    """Return the decimals, 0 or 1, at which two rounded percentages match their rounded difference.

    ``whole`` and ``part`` are the percentages as shares. A difference of 1 has a decimal, as in ``in_points``.

    >>> decimals_of_difference(0.51, 0.11), decimals_of_difference(0.376, 0.104), decimals_of_difference(0.51, 0.5)
    (0, 1, 1)
    """
    difference = round(100 * (whole - part))
    return int(round(100 * whole) - round(100 * part) != difference or abs(difference) == 1)


def percent(probability: float) -> str:
    """Format a probability with two decimals, three just below 1, or two significant digits below 0.01.

    Below SMALL, use scientific notation with one digit.

    >>> percent(0.3149), percent(0.00123), percent(3.2e-7), percent(0.9991)
    ('0.31', '0.0012', '3 × 10⁻⁷', '0.999')
    """
    if 0.995 <= probability < 1:
        return f"{probability:.3f}"
    return (
        f"{probability:.2f}"
        if probability >= 0.01
        else f"{probability:.2g}"
        if probability >= SMALL
        else typeset_number(f"{probability:.0e}")
    )


def times(log_odds: float, first: str, second: str) -> str:
    """Return a sentence with the factor by which one of two answers is likelier than the other.

    ``log_odds`` are the log-odds of ``first`` against ``second`` in nats.

    >>> times(1.2, "it", "he"), times(-5.0, "it", "he"), times(0.001, "it", "he")
    ('“it” is 3.32 times as likely as “he”', '“he” is 148 times as likely as “it”', '“it” and “he” are equally likely')
    """
    if abs(log_odds) < math.log1p(0.005):
        return _("“{first}” and “{second}” are equally likely", first=first, second=second)
    more, less = (first, second) if log_odds > 0 else (second, first)
    return _("“{more}” is {factor} times as likely as “{less}”", more=more, factor=factor(log_odds), less=less)


def factor(log: float) -> str:
    """Return exp(|log|) as text: a factor that is always at least 1.

    >>> factor(-0.7), factor(9.0), factor(50.0)
    ('2.01', '8,103', '5 × 10²¹')
    """
    size = abs(log)
    if size < math.log(1e6):
        number = math.exp(size)
        return f"{number:.2f}" if number < 100 else f"{number:,.0f}"
    power = int(size / math.log(10))
    return f"{math.exp(size - power * math.log(10)):.0f} × 10{superscript(power)}"


def likelihood(log: float) -> str:
    """Format a probability, given its natural logarithm.

    The logarithm is needed because the probability of a long text underflows.

    >>> likelihood(-0.5), likelihood(-20.0), likelihood(-2000.0)
    ('0.61', '2.1 × 10⁻⁹', '2.6 × 10⁻⁸⁶⁹')
    """
    if log > math.log(SMALL):
        return percent(math.exp(log))
    power = math.floor(log / math.log(10))
    return f"{math.exp(log - power * math.log(10)):.1f} × 10{superscript(power)}"


def scientific(value: float) -> str:
    """Return a small number in scientific notation with two digits.

    >>> scientific(9.54e-07), scientific(0.0)
    ('9.5 × 10⁻⁷', '0')
    """
    return typeset_number(f"{value:.1e}") if value else "0"


def number_duplicates(names: Sequence[str]) -> list[str]:
    """Return the names with numbers appended to repeated names, from left to right.

    >>> number_duplicates(["the", "key", "to", "the", "lock"])
    ['the (1)', 'key', 'to', 'the (2)', 'lock']
    """
    many, seen = Counter(names), Counter[str]()
    found = []
    for name in names:
        seen[name] += 1
        found.append(f"{name} ({seen[name]})" if many[name] > 1 else name)
    return found


def p_value(chance: float) -> str:
    """Format a p-value for a sentence.

    >>> p_value(0.0312), p_value(1e-9), p_value(1.0)
    ('= 0.031', '< 0.001', '= 1')
    """
    return "< 0.001" if chance < 0.001 else f"= {chance:.2g}"
