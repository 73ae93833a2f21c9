"""The next step of generation: the distribution, a draw from it, and the last token's attention."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from torch import Tensor

from attention import softmax
from attention.mask import FloatArray
from attention.softmax import Doubles
from i18n import gettext_lazy
from inference.errors import UserError, as_user_error
from inference.loaded_model import LoadedModel
from inference.record.records import numpy
from inference.runners.blanks import read
from inference.tasks.decoding import Decoding, DecodingStep, NextCandidate, NextStep, NextTarget
from inference.text.encoding import Encoding, check_text
from inference.text.next_token_text import extend_reading, gains, mark_pieces, text_read
from inference.write import decoding
from inference.write.decoding import NextTokenPass, Writing, end_tokens, limit_of
from inference.write.target_text import refuse_edits, refuse_tokens, target_of

MOST = 200  # candidates


def answer(loaded: LoadedModel, question: NextStep) -> DecodingStep:
    """Return the next step; raise UserError for impossible tokens and for invalid sampling options."""
    _refuse_odd_rule(question)
    source, writing = prepare(loaded, question)
    refuse_odd_tokens(loaded, writing, question.written)
    with as_user_error(
        gettext_lazy("{name} failed while writing here. Change the text or pick another model.", name=loaded.id.name)
    ):
        passed = decoding.read(loaded.model, writing, [question.written])
        ruled = passed.apply_rules(passed.logits)[0].numpy()
        candidates = _Candidates(loaded, question, passed, ruled)
    if isinstance(question, NextTarget):
        target, text = target_of(loaded, question.written)
        row = target.row
    else:
        prompt = text_read(source, check_text(question.text), question.cut)
        longer, whole = extend_reading(loaded.reader, source, prompt, question.written)
        row, text = longer.row, whole[len(prompt) :]
    best = candidates.order[: min(max(question.top, 1), MOST)].tolist()
    also = [token for token in question.also[:MOST] if 0 <= token < candidates.own.size]
    drawn = softmax.draw(candidates.drawn, question.seed, len(question.written))
    return DecodingStep(
        row=row,
        source=source.row if isinstance(question, NextTarget) else None,
        text=text,
        candidates=candidates.of(list(dict.fromkeys([*best, *also]))),
        greedy=candidates.of([int(ruled.argmax())])[0],
        chosen=candidates.of([drawn])[0],
        entropy=softmax.distribution_entropy(candidates.own),
        entropy_drawn=softmax.distribution_entropy(candidates.drawn),
        possible=int(np.count_nonzero(candidates.drawn)),
        vocabulary=candidates.own.size,
        ended=bool(question.written) and question.written[-1] in candidates.ends,
        room=max(0, min(writing.longest, loaded.limit) - len(row)),
        cached=passed.cached,
        looks=_single_row(passed.looks),
        across=_single_row(passed.across),
    )


def prepare(loaded: LoadedModel, question: Decoding[Any]) -> tuple[Encoding, Writing]:
    """Return the encoded prompt or source, and the state that generation starts from.

    Raise UserError if the text cannot be read or the edits do not fit.
    """
    source = read(loaded, question.text, cut=question.cut)
    refuse_edits(loaded, question.edits, len(source.ids), None)
    longest = limit_of(loaded)
    if loaded.id.kind == "decoder":  # longer than the prompt, so that the prompt's next token can be requested
        longest = max(loaded.limit, len(source.ids) + 1)
    return source, Writing(source.ids, longest, question.edits)


def refuse_odd_tokens(loaded: LoadedModel, writing: Writing, written: Sequence[int]) -> None:
    """Raise UserError for written tokens that do not exist, are too many, or follow an end token."""
    refuse_tokens(loaded, written, before=len(writing.source) if loaded.id.kind == "decoder" else 1)
    ends = end_tokens(loaded.model)
    ended = [at for at, token in enumerate(written[:-1]) if token in ends]
    if ended:
        raise UserError(
            gettext_lazy(
                "The text ends with its token {ended}, counted from 0; nothing is written after its end.",
                ended=ended[0],
            )
        )


class _Candidates:
    """The tokens of a distribution with their probabilities and ranks."""

    def __init__(self, loaded: LoadedModel, question: NextStep, passed: NextTokenPass, ruled: FloatArray) -> None:
        self.loaded, self.before = loaded, passed.tokens[0].tolist()
        if isinstance(question, NextTarget):
            self.before = self.before[1:]
        self.own: Doubles = softmax.shape(passed.logits[0].numpy())
        self.drawn: Doubles = softmax.shape(ruled, question.temperature / 100, question.top_k, question.top_p / 100)
        self.ends = end_tokens(loaded.model)
        self.order = np.argsort(-self.own, kind="stable")  # most probable first
        self.ranks = np.empty_like(self.order)
        self.ranks[self.order] = np.arange(1, len(self.order) + 1)

    def of(self, tokens: Sequence[int]) -> tuple[NextCandidate, ...]:
        """Return the candidates for these tokens, in the given order."""
        texts = gains(self.loaded.reader, self.before, tokens)
        return tuple(
            NextCandidate(
                token=token,
                piece=piece,
                text=text,
                probability=float(self.own[token]),
                rank=int(self.ranks[token]),
                drawn=float(self.drawn[token]),
                ends=token in self.ends,
            )
            for token, piece, text in zip(tokens, mark_pieces(self.loaded.reader, tokens), texts, strict=True)
        )


def _refuse_odd_rule(question: NextStep) -> None:
    if question.temperature < 0 or question.top_k < 0 or question.seed < 0 or not 0 <= question.top_p <= 100:
        raise UserError(
            gettext_lazy(
                "Temperature {temperature:g}, top-k {top_k}, top-p {top_p:g} and"
                " seed {seed} came; none may be below 0, and top-p not above 1.",
                temperature=question.temperature / 100,
                top_k=question.top_k,
                top_p=question.top_p / 100,
                seed=question.seed,
            ),
            way_out=None,
        )


def _single_row(rows: Tensor | None) -> FloatArray | None:
    """Return the attention of the only row, (layer, head, key), or None."""
    return None if rows is None else numpy(rows[0].clone())
