"""Tokenizer steps as rows of the figure, as tables with headings, and as a sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from i18n import _, gettext_lazy, translate
from inference.tasks.tokenizer_steps import Steps, TokenizedText
from ui.show.text import format_comma_list, format_semicolon_list
from viz.components.tokenizer_steps.tokenizer_steps import TokenizerPart, TokenizerStep, TokenizerSteps
from viz.figures.theme import truncate

COMPARED = {
    "tokenizer": gettext_lazy("Tokenizer"),
    "cuts by": gettext_lazy("Algorithm"),
    "vocabulary": gettext_lazy("Vocabulary"),
    "tokens": gettext_lazy("tokens"),
    "special": gettext_lazy("Special"),
    "characters per piece": gettext_lazy("Characters per token"),
    "pieces per word": gettext_lazy("Tokens per pre-token"),
    "unknown": gettext_lazy("Unknown"),
}
TABLE = {
    "position": gettext_lazy("Position"),
    "token": gettext_lazy("Token"),
    "number": gettext_lazy("Number"),
    "segment": gettext_lazy("Segment"),
    "mask": gettext_lazy("Mask"),
    "special": gettext_lazy("Special"),
    "from": gettext_lazy("From"),
    "to": gettext_lazy("To"),
    "characters": gettext_lazy("Characters"),
}
WALK = {
    "step": gettext_lazy("Step"),
    "left to cut": gettext_lazy("Left to cut"),
    "not in the vocabulary": gettext_lazy("Not in the vocabulary"),
    "taken": gettext_lazy("Taken"),
    "symbols": gettext_lazy("Symbols"),
    "joined": gettext_lazy("Joined"),
    "learnt as merge": gettext_lazy("Learnt as merge"),
    "characters": gettext_lazy("Characters"),
    "last piece of the best way": gettext_lazy("Last token of the best split"),
    "its log probability": gettext_lazy("Its log-probability"),
    "of the whole way": gettext_lazy("Log-probability of the split"),
}


def headings(names: Mapping[str, str]) -> dict[str, str]:
    """Return the headings of table columns in the current language."""
    return {name: translate(heading) for name, heading in names.items()}


WORDS = 120  # The figure shows at most so many words of each text.
TOKENS = 400  # The figure shows at most so many tokens if the words are unknown.
NORMALISED = 1000  # The figure shows at most so many characters of the normalised text.
CUTS = {
    "WordPiece": gettext_lazy(
        "The longest beginning in the vocabulary, then the longest of the rest; ## marks a continuation."
    ),
    "BPE": gettext_lazy("Characters or bytes; pairs are joined in the order learnt."),
    "Unigram": gettext_lazy("The likeliest way to write a word with the vocabulary."),
    "WordLevel": gettext_lazy("Words are in the vocabulary or unknown."),
}
OWN_CUTS = gettext_lazy("Own rules")
Place = tuple[int, int]  # (text, word), both indices


def tokenizer_steps_of(steps: Steps) -> TokenizerSteps:
    """Return the steps of a tokenizer as rows of the figure, for the first WORDS words of each text.

    If the tokenizer reports no words, the rows have the first TOKENS tokens.
    """
    words = word_of_tokens(steps)
    drawn = [at for at, token in enumerate(steps.tokens) if at in words or token.special or not steps.sides]
    drawn = drawn if steps.sides else drawn[:TOKENS]
    rows: list[TokenizerStep] = []
    if steps.sides:
        texts = "\n".join(truncate(side.normalised, NORMALISED) for side in steps.sides)
        rows.append(
            TokenizerStep(_("1. Normalise"), _join_phrases(steps.normaliser, _("Nothing is changed.")), text=texts)
        )
        rows.append(
            TokenizerStep(
                _("2. Split"),
                _join_phrases(steps.splitter, _("Nothing is changed.")),
                rungs=tuple(_words(steps.sides)),
            )
        )
    pieces = [_tokenizer_part(steps, at, words) for at in drawn if not steps.tokens[at].special]
    rows.append(
        TokenizerStep(_("3. Cut into pieces"), translate(CUTS.get(steps.algorithm, OWN_CUTS)), rungs=tuple(pieces))
    )
    note = _(
        "Template: {template}. Below each token: number, segment, mask (1: read).",
        template=steps.template,
    )
    tokens = [_tokenizer_part(steps, at, words, under=True) for at in drawn]
    rows.append(TokenizerStep(_("4. Add special tokens"), note, rungs=tuple(tokens)))
    about = _(
        "{algorithm}, {entries:,} entries", algorithm=steps.algorithm or translate(OWN_CUTS), entries=steps.vocabulary
    )
    return TokenizerSteps(steps.model, about, tuple(rows))


def word_of_tokens(steps: Steps) -> dict[int, Place]:
    """Return the (text, word) of each token by the token's index, for the first WORDS words of each text."""
    found: dict[int, Place] = {}
    for side, one in enumerate(steps.sides):
        for at, word in enumerate(one.words[:WORDS]):
            found |= dict.fromkeys(range(*word.tokens), (side, at))
    return found


def top(steps: Sequence[Steps], texts: Sequence[str]) -> list[str]:
    """Return the beginning of each text, up to the last word that the figures of all compared tokenizers show."""
    ends = [
        [side.words[WORDS - 1].span[1] if len(side.words) > WORDS else len(side.text) for side in one.sides]
        for one in steps
    ]
    return [text[: min((end[at] for end in ends if at < len(end)), default=len(text))] for at, text in enumerate(texts)]


def left_out(steps: Sequence[Steps]) -> str | None:
    """Return a sentence if the figure omits words or tokens; None otherwise."""
    if any(len(side.words) > WORDS for one in steps for side in one.sides) or any(
        not one.sides and len(one.tokens) > TOKENS for one in steps
    ):
        return _("Only the beginning is drawn; the tables have every token.")
    return None


def summary(steps: Steps, texts: Sequence[str]) -> str:
    """Return a sentence on the numbers of characters and tokens, and on the unknown tokens."""
    content = [token for token in steps.tokens if not token.special]
    characters = _characters(steps, texts)
    unknown = [token for token in content if token.unknown]
    special = len(steps.tokens) - len(content)
    said = _(
        "{model} reads {characters:,} characters as {pieces:,} tokens, {each:.1f} characters each; "
        "special tokens: {special}.",
        model=steps.model,
        characters=characters,
        pieces=len(content),
        each=characters / len(content),
        special=special,
    )
    if not unknown:
        return said
    places = dict.fromkeys(texts[token.side][slice(*token.span)] for token in unknown if token.span)
    shown = format_comma_list([f"“{truncate(place, 20)}”" for place in list(places)[:6]])
    return _(
        "{said} Not in its vocabulary, hence {unknown}: {pieces}.",
        said=said,
        unknown=steps.unknown,
        pieces=shown or len(unknown),
    )


def comparison_rows(steps: Sequence[Steps], texts: Sequence[str]) -> list[dict[str, Any]]:
    """Return a table row with counts and ratios for each tokenizer."""
    rows = []
    for one in steps:
        content = [token for token in one.tokens if not token.special]
        words = sum(len(side.words) for side in one.sides)
        rows.append(
            {
                "tokenizer": one.model,
                "cuts by": one.algorithm or translate(OWN_CUTS),
                "vocabulary": one.vocabulary,
                "tokens": len(content),
                "special": len(one.tokens) - len(content),
                "characters per piece": round(_characters(one, texts) / len(content), 2),
                "pieces per word": round(len(content) / words, 2) if words else None,
                "unknown": sum(token.unknown for token in content),
            }
        )
    return rows


def table(steps: Steps) -> list[dict[str, Any]]:
    """Return a table row for each token of the model's input."""
    texts = [side.text for side in steps.sides]
    return [
        {
            "position": at,
            "token": token.shown,
            "number": token.id,
            "segment": token.segment,
            "mask": 1,
            "special": token.special,
            "from": None if token.span is None else token.span[0],
            "to": None if token.span is None else token.span[1],
            "characters": texts[token.side][slice(*token.span)] if token.span and token.side < len(texts) else "",
        }
        for at, token in enumerate(steps.tokens)
    ]


def _characters(steps: Steps, texts: Sequence[str]) -> int:
    """Count the characters of the texts that this tokenizer reads; some read only the first."""
    return sum(map(len, texts[: 1 + max(token.side for token in steps.tokens)]))


def _words(sides: Sequence[TokenizedText]) -> list[TokenizerPart]:
    return [
        TokenizerPart(
            word.shown,
            place=(at, *word.span),
            word=(at, number),
            mark="whole" if word.whole else "",
            title=_characters_title(word.span),
        )
        for at, side in enumerate(sides)
        for number, word in enumerate(side.words[:WORDS])
    ]


def _characters_title(span: tuple[int, int]) -> str:
    return _("characters {first} to {last}", first=span[0], last=span[1] - 1)


def _tokenizer_part(steps: Steps, at: int, words: Mapping[int, Place], under: bool = False) -> TokenizerPart:
    token = steps.tokens[at]
    whole = at in words and steps.sides[words[at][0]].words[words[at][1]].whole
    number = _("number {number}", number=token.id)
    title = number if token.span is None else f"{number}: {_characters_title(token.span)}"
    return TokenizerPart(
        token.shown,
        place=None if token.span is None else (token.side, *token.span),
        word=words.get(at),
        mark="special" if token.special else "unknown" if token.unknown else "whole" if whole else "",
        joined=at in words and words.get(at - 1) == words[at],
        under=(str(token.id), str(token.segment), "1") if under else (),
        title=title,
    )


def _join_phrases(parts: Sequence[str], nothing: str) -> str:
    """Join phrases with semicolons into a sentence; return ``nothing`` if there are none."""
    if not parts:
        return nothing
    joined = format_semicolon_list([translate(part) for part in parts])
    said = joined[0].upper() + joined[1:]
    return said if said.endswith(".") else _("{text}.", text=said)
