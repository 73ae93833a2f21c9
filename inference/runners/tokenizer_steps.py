"""The steps of a tokenizer on a text, computed by its components: normaliser, pre-tokenizer, model, template."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from i18n import gettext_lazy
from inference.errors import UserError, as_user_error
from inference.loaded_model import LoadedModel
from inference.tasks.tokenizer_steps import (
    Merge,
    Span,
    Steps,
    Token,
    TokenizedText,
    TokenSteps,
    Word,
    WordSteps,
    WordWalk,
)
from inference.text import tokenizer_steps
from inference.text.encoding import Encoding, check_text
from inference.text.pieces import decode_bytes
from inference.text.tokenizer_steps import in_words

LONGEST = 200  # most characters of a word for which the steps are shown


def answer(loaded: LoadedModel, question: TokenSteps | WordWalk) -> Steps | WordSteps:
    """Return the steps of the tokenizer from a text to token ids, or the steps that split a single word."""
    if isinstance(question, WordWalk):
        return _cut_word(loaded, question.word)
    texts = [
        check_text(question.text),
        *([] if question.pair is None else [check_text(question.pair, gettext_lazy("second text"))]),
    ]
    reading = loaded.reader.read(texts[0], texts[1] if len(texts) > 1 else None, None)
    tokenizer = loaded.reader.tokenizer
    backend = tokenizer.backend_tokenizer if loaded.reader.fast else None
    tokens = _tokens(loaded, reading)
    sides: tuple[TokenizedText, ...] = ()
    if backend is not None:
        with as_user_error(_unavailable(loaded.id.name), way_out="text"):
            sides = tuple(_side(loaded, backend, text, tokens, at) for at, text in enumerate(texts))
    apart = backend is not None and not all(_is_outcome(backend, side, tokens) for side in sides)
    return Steps(
        model=loaded.id.name,
        kind=loaded.id.kind,
        algorithm="" if backend is None else type(backend.model).__name__,
        vocabulary=len(tokenizer),
        normaliser=() if backend is None else in_words(backend.normalizer),
        splitter=() if backend is None else in_words(backend.pre_tokenizer),
        template=_template(tokens),
        unknown=str(tokenizer.unk_token or ""),
        sides=() if apart else sides,
        tokens=tokens,
        why=_slow_tokenizer_note(loaded.id.name) if backend is None else _unavailable(loaded.id.name) if apart else "",
    )


def _slow_tokenizer_note(name: str) -> str:
    return gettext_lazy(
        "The tokenizer of {name} (Python or SentencePiece) returns only its result.",
        name=name,
    )


def _unavailable(name: str) -> str:
    """Return the note for a text whose tokenizer steps fail or do not reproduce the tokenizer's result."""
    return gettext_lazy("The tokenizer steps of {name} cannot be shown for this text.", name=name)


def _tokens(loaded: LoadedModel, reading: Encoding) -> tuple[Token, ...]:
    row, tokenizer, how = reading.row, loaded.reader.tokenizer, loaded.reader.style
    raw = tokenizer.convert_ids_to_tokens(list(row.ids))
    return tuple(
        Token(
            raw=raw[at],
            shown=raw[at] if special else symbol(raw[at], how),
            id=row.ids[at],
            segment=reading.types[at],
            side=row.segments[at],
            span=row.spans[at],
            special=special,
            unknown=not special and row.ids[at] == tokenizer.unk_token_id,
        )
        for at, special in enumerate(row.special)
    )


def _template(tokens: Sequence[Token]) -> str:
    """Return the arrangement of texts and special tokens, such as "[CLS] A [SEP] B [SEP]"."""
    parts: list[str] = []
    for token in tokens:
        name = token.raw if token.special else "AB"[min(token.side, 1)]
        if token.special or not parts or parts[-1] != name:
            parts.append(name)
    return " ".join(parts)


def _side(loaded: LoadedModel, backend: Any, text: str, tokens: Sequence[Token], at: int) -> TokenizedText:
    """Return a text, normalised and pre-tokenized, with the tokens of each word."""
    from tokenizers import PreTokenizedString

    whole = list(
        _split_added_tokens(backend, text, [token for token in tokens if token.side == at and not token.special])
    )
    moving = PreTokenizedString(text)
    if whole:
        edges = [0, *(place for span, _ in whole for place in span), len(text)]
        between = [(start, end) for start, end in zip(edges[::2], edges[1::2], strict=True) if start < end]
        moving.split(lambda _, part: [part[start:end] for start, end in between])
    if backend.normalizer is not None:
        moving.normalize(backend.normalizer.normalize)
    chunks = [(span, chunk) for chunk, span, _ in _splits(moving)]
    normalised = "".join(chunk for _, chunk in sorted([*chunks, *whole]))
    if backend.pre_tokenizer is not None:
        backend.pre_tokenizer.pre_tokenize(moving)
    parts = [(span, chunk, False) for chunk, span, _ in _splits(moving) if chunk]
    ordered = sorted([*parts, *((span, chunk, True) for span, chunk in whole)], key=lambda part: part[0])
    words: list[Word] = []
    cursor = next((i for i, token in enumerate(tokens) if token.side == at and not token.special), 0)
    for span, chunk, added in ordered:
        count = 1 if added else len(backend.model.tokenize(chunk))
        shown = chunk if added else symbol(chunk, loaded.reader.style)
        words.append(Word(chunk, shown, span, added, (cursor, cursor + count)))
        cursor += count
    return TokenizedText(text, normalised, tuple(words))


def _splits(moving: Any) -> list[tuple[str, Span, Any]]:
    found: list[tuple[str, Span, Any]] = moving.get_splits(offset_referential="original", offset_type="char")
    return found


def _split_added_tokens(backend: Any, text: str, tokens: Sequence[Token]) -> Iterator[tuple[Span, str]]:
    """Yield span and content of tokens that are matched before all else, such as [MASK].

    The span includes the white space that the token takes.
    """
    added = backend.get_added_tokens_decoder()
    for token in tokens:
        stated = added.get(token.id)
        if stated is None or token.span is None:
            continue
        start, end = token.span
        if text[start:end].strip().casefold() != stated.content.strip().casefold():
            continue  # for example an [UNK] that replaces a word, not a typed [UNK]
        while stated.lstrip and start and text[start - 1].isspace():
            start -= 1
        while stated.rstrip and end < len(text) and text[end].isspace():
            end += 1
        yield (start, end), stated.content


def _is_outcome(backend: Any, side: TokenizedText, tokens: Sequence[Token]) -> bool:
    """Return True if tokenising word by word gives the same tokens as tokenising the whole text."""
    for word in side.words:
        given = [token.id for token in tokens[slice(*word.tokens)]]
        alone = (
            [backend.token_to_id(word.text)] if word.whole else [cut.id for cut in backend.model.tokenize(word.text)]
        )
        if given != alone:
            return False
    return True


def symbol(piece: str, how: str) -> str:
    """Return a subword as spelled in the vocabulary, with its marks such as "##".

    ``how`` is the tokenizer's style; in the style "bytes", the bytes are decoded to readable text.

    >>> symbol("\\u0120caf\\u00c3\\u00a9", "bytes"), symbol("##ing", "wordpiece")
    ('␣café', '##ing')
    """
    return decode_bytes(piece).replace(" ", "␣") if how == "bytes" else piece


def _cut_word(loaded: LoadedModel, word: str) -> WordSteps:
    """Return the steps that split a word into subwords, by the rules of the tokenizer's own model.

    Raise UserError if the steps cannot be followed or do not give the tokenizer's own result.
    """
    name = loaded.id.name
    if not loaded.reader.fast:
        raise UserError(_slow_tokenizer_note(name))
    if not 0 < len(word) <= LONGEST:
        raise UserError(
            gettext_lazy(
                "This word has {characters:,} characters; the limit is {longest}.",
                characters=len(word),
                longest=LONGEST,
            )
        )
    backend = loaded.reader.tokenizer.backend_tokenizer
    algorithm = type(backend.model).__name__
    with as_user_error(_unavailable(name), way_out=None):
        if algorithm == "WordPiece":
            found = tokenizer_steps.wordpiece(word, backend.model)
        elif algorithm in ("BPE", "Unigram"):
            stated = json.loads(backend.to_str())["model"]
            found = tokenizer_steps.bpe(word, stated) if algorithm == "BPE" else tokenizer_steps.unigram(word, stated)
        else:
            raise UserError(
                gettext_lazy(
                    "{name} uses {algorithm}, which has no steps.",
                    name=name,
                    algorithm=algorithm,
                )
            )
    if found.ids != tuple(cut.id for cut in backend.model.tokenize(word)):
        raise UserError(_unavailable(name))
    return _make_readable(found, loaded.reader.style)


def _make_readable(walk: WordSteps, how: str) -> WordSteps:
    """Return the steps with bytes made readable; only BPE works on bytes."""

    def readable(symbols: Sequence[str]) -> tuple[str, ...]:
        return tuple(symbol(one, how) for one in symbols)

    steps = tuple(
        replace(step, before=readable(step.before), after=readable(step.after)) if isinstance(step, Merge) else step
        for step in walk.steps
    )
    return replace(walk, steps=steps, pieces=readable(walk.pieces))
