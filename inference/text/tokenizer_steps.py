"""The steps of a tokenizer, described in words, and the algorithms that split a word into subwords."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from i18n import gettext_lazy
from inference.tasks.tokenizer_steps import BestPrefix, Match, Merge, WordSteps


def in_words(component: Any) -> tuple[str, ...]:
    """Return descriptions in words of the operations of a normaliser or pre-tokenizer; () for None.

    >>> from tokenizers import normalizers
    >>> in_words(normalizers.Sequence([normalizers.NFKC(), normalizers.Lowercase()]))
    ('Unicode NFKC: similar characters unified', 'lower case')
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
    found = [gettext_lazy("a space before the text")] if state.get("add_prefix_space") else []
    if state.get("use_regex", True):
        found.append(gettext_lazy("split by GPT-2's pattern: words with their space, numbers, punctuation"))
    return [*found, gettext_lazy("bytes as characters, a space as Ġ")]


def _metaspace(state: Mapping[str, Any]) -> list[str]:
    mark = str(state.get("replacement", "▁"))
    scheme = state.get("prepend_scheme")
    where = {
        "always": gettext_lazy("{quoted} before the text", quoted=mark),
        "first": gettext_lazy("{quoted} before the text", quoted=mark),
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
    ("left",): gettext_lazy("left white space removed"),
    ("right",): gettext_lazy("right white space removed"),
    ("left", "right"): gettext_lazy("outer white space removed"),
}
_SAID: dict[str, str | Callable[[Mapping[str, Any]], list[str]]] = {
    "BertNormalizer": _bert,
    "NFC": gettext_lazy("Unicode NFC: letters joined with accents"),
    "NFD": gettext_lazy("Unicode NFD: letters and accents apart"),
    "NFKC": gettext_lazy("Unicode NFKC: similar characters unified"),
    "NFKD": gettext_lazy("Unicode NFKD: similar characters unified, accents apart"),
    "Nmt": gettext_lazy("control characters removed, white space made spaces"),
    "Lowercase": gettext_lazy("lower case"),
    "StripAccents": gettext_lazy("accents removed"),
    "Precompiled": gettext_lazy("SentencePiece's table of replacements"),
    "Strip": _strip,
    "Replace": _replace,
    "Prepend": lambda state: [gettext_lazy("{quoted} before the text", quoted=_quote(str(state.get("prepend"))))],
    "BertPreTokenizer": gettext_lazy("split at white space and punctuation"),
    "Whitespace": gettext_lazy("split into words (letters, digits, _) and signs"),
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


_UNKNOWN_PENALTY = 10.0  # as in tokenizers: unknown characters score this much below the worst subword


def wordpiece(word: str, model: Any) -> WordSteps:
    """Split a word by greedy longest match (arXiv:1609.08144; as in BERT, arXiv:1810.04805, section 3).

    ``model`` is the model of the tokenizer, with ``token_to_id``, ``unk_token``, ``continuing_subword_prefix`` and
    ``max_input_chars_per_word``. If no subword matches the beginning of the rest of a word, the whole word is unknown.
    """
    unknown = WordSteps("WordPiece", (), (model.unk_token,), (model.token_to_id(model.unk_token),))
    if len(word) > model.max_input_chars_per_word:
        note = gettext_lazy(
            "Words of over {most} characters are unknown.",
            most=model.max_input_chars_per_word,
        )
        return WordSteps("WordPiece", (), unknown.pieces, unknown.ids, note)
    steps: list[Match] = []
    at = 0
    while at < len(word):
        prefix = model.continuing_subword_prefix if at else ""
        candidates = [prefix + word[at:end] for end in range(len(word), at, -1)]
        found = next((i for i, piece in enumerate(candidates) if model.token_to_id(piece) is not None), None)
        if found is None:
            steps.append(Match(prefix + word[at:], tuple(candidates), ""))
            note = gettext_lazy("One part is not in the vocabulary, so the word is unknown.")
            return WordSteps("WordPiece", tuple(steps), unknown.pieces, unknown.ids, note)
        steps.append(Match(prefix + word[at:], tuple(candidates[:found]), candidates[found]))
        at = len(word) - found
    pieces = tuple(step.taken for step in steps)
    return WordSteps("WordPiece", tuple(steps), pieces, tuple(model.token_to_id(piece) for piece in pieces))


def bpe(word: str, stated: Mapping[str, Any]) -> WordSteps:
    """Split a word by byte-pair encoding (arXiv:1508.07909).

    The adjacent pair with the lowest rank is merged first, until no adjacent pair is in the list of merges. ``stated``
    is the model in tokenizer.json: "vocab", "merges" and its settings.
    """
    vocab = stated["vocab"]
    if stated.get("ignore_merges") and word in vocab:
        note = gettext_lazy("The whole word is in the vocabulary; nothing is merged.")
        return WordSteps("BPE", (), (word,), (vocab[word],), note)
    prefix = stated.get("continuing_subword_prefix") or ""
    ranks = {(one, other): rank for rank, (one, other) in enumerate(stated["merges"])}
    symbols = _symbols(word, stated)
    steps: list[Merge] = []
    while True:
        known = [(ranks[pair], at) for at, pair in enumerate(pairwise(symbols)) if pair in ranks]
        if not known:
            break
        rank, at = min(known)
        joined = symbols[at] + symbols[at + 1].removeprefix(prefix)
        after = [*symbols[:at], joined, *symbols[at + 2 :]]
        steps.append(Merge(tuple(symbols), at, rank, tuple(after)))
        symbols = after
    return WordSteps("BPE", tuple(steps), tuple(symbols), tuple(vocab[symbol] for symbol in symbols))


def _symbols(word: str, stated: Mapping[str, Any]) -> list[str]:
    """Return the initial symbols of BPE, a symbol per character.

    A character that the vocabulary lacks becomes its bytes, the unknown token or nothing.
    """
    vocab, unknown = stated["vocab"], stated.get("unk_token")
    found: list[str] = []
    fused = False  # True if the previous symbol is an unknown token that absorbs this character
    for at, character in enumerate(word):
        symbol = (stated.get("continuing_subword_prefix") or "" if at else "") + character
        symbol += (stated.get("end_of_word_suffix") or "") if at == len(word) - 1 else ""
        as_bytes = [f"<0x{byte:02X}>" for byte in symbol.encode()]
        lacking = symbol not in vocab
        if not lacking:
            found.append(symbol)
        elif stated.get("byte_fallback") and all(byte in vocab for byte in as_bytes):
            found += as_bytes
            lacking = False
        elif unknown is not None and not fused:
            found.append(unknown)
        fused = lacking and unknown is not None and bool(stated.get("fuse_unk"))
    return found


def unigram(word: str, stated: Mapping[str, Any]) -> WordSteps:
    """Return the most probable subwords of a word under a unigram language model, by Viterbi's algorithm.

    The source is arXiv:1804.10959. ``stated`` is the model in tokenizer.json: "vocab" as pairs of subword and log
    probability, "unk_id" and "byte_fallback".
    """
    scores = {piece: float(score) for piece, score in stated["vocab"]}
    numbers = {piece: at for at, (piece, _) in enumerate(stated["vocab"])}
    longest = max(map(len, scores))
    unlikely = min(scores.values()) - _UNKNOWN_PENALTY
    best: list[tuple[float, int] | None] = [(0.0, 0)] + [None] * len(word)  # total, start of the last subword
    for start in range(len(word)):
        so_far = best[start]
        assert so_far is not None  # every prefix is reachable, because single characters count as unknown subwords
        for end in range(start + 1, min(len(word), start + longest) + 1):
            score = scores.get(word[start:end], unlikely if end == start + 1 else None)
            reached = best[end]
            if score is not None and (reached is None or so_far[0] + score > reached[0]):
                best[end] = (so_far[0] + score, start)
    ways = [(end, *way) for end, way in enumerate(best) if way is not None and end]
    steps = tuple(
        BestPrefix(end, word[start:end], scores.get(word[start:end], unlikely), total) for end, total, start in ways
    )
    return WordSteps(
        "Unigram", steps, *_spell_pieces(_backtrack(word, {step.end: step.piece for step in steps}), numbers, stated)
    )


def _backtrack(word: str, last: Mapping[int, str]) -> list[str]:
    """Return the subwords of the best path, followed back from the end."""
    found: list[str] = []
    end = len(word)
    while end > 0:
        found.append(last[end])
        end -= len(last[end])
    return found[::-1]


def _spell_pieces(
    pieces: Sequence[str], numbers: Mapping[str, int], stated: Mapping[str, Any]
) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Return subwords and ids.

    Adjacent unknown subwords are fused, and become bytes if the vocabulary has them.
    """
    unknown: Any = stated.get("unk_id")
    fused: list[str] = []
    for at, piece in enumerate(pieces):
        if at and piece not in numbers and fused[-1] not in numbers:
            fused[-1] += piece
        else:
            fused.append(piece)
    spelled: list[str] = []
    ids: list[int] = []
    for piece in fused:
        as_bytes = [f"<0x{byte:02X}>" for byte in piece.encode()]
        if piece in numbers:
            spelled.append(piece)
            ids.append(numbers[piece])
        elif stated.get("byte_fallback") and all(byte in numbers for byte in as_bytes):
            spelled += as_bytes
            ids += [numbers[byte] for byte in as_bytes]
        else:
            spelled.append(stated["vocab"][unknown][0])
            ids.append(unknown)
    return tuple(spelled), tuple(ids)
