"""What comes next in a text that is being written: the model's distribution, one draw from it, and its looks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from torch import Tensor

from attention import sampling
from attention.mask import Array
from attention.sampling import Doubles
from inference.answers.inputs import read
from inference.errors import Refusal, refusing
from inference.loaded import Loaded
from inference.questions.decoding import Candidate, Decoding, NextStep, NextTarget, Step
from inference.record.records import numpy
from inference.text.accepted import check_text
from inference.text.next_pieces import begun, continued, gains, marked
from inference.text.reading import Reading
from inference.write import decoding
from inference.write.bounds import end_tokens, limit_of
from inference.write.decoding import Passed, Writing
from inference.write.samples import refuse_edits
from inference.write.writing import refuse_tokens, target_of
from wording import sentence

MOST = 200  # candidates


def answer(loaded: Loaded, question: NextStep) -> Step:
    """One step; raises Refusal for tokens that cannot stand there and for a rule that makes no sense."""
    _refuse_odd_rule(question)
    source, writing = prepare(loaded, question)
    refuse_odd_tokens(loaded, writing, question.written)
    with refusing(
        sentence("{name} failed while writing here. Change the text or pick another model.", name=loaded.id.name)
    ):
        passed = decoding.read(loaded.model, writing, [question.written])
        ruled = passed.ruled(passed.logits)[0].numpy()
        candidates = _Candidates(loaded, question, passed, ruled)
    if isinstance(question, NextTarget):
        target, text = target_of(loaded, question.written)
        row = target.row
    else:
        prompt = begun(source, check_text(question.text), question.cut)
        longer, whole = continued(loaded.reader, source, prompt, question.written)
        row, text = longer.row, whole[len(prompt) :]
    best = candidates.order[: min(max(question.top, 1), MOST)].tolist()
    also = [token for token in question.also[:MOST] if 0 <= token < candidates.own.size]
    drawn = sampling.draw(candidates.drawn, question.seed, len(question.written))
    return Step(
        row=row,
        source=source.row if isinstance(question, NextTarget) else None,
        text=text,
        candidates=candidates.of(list(dict.fromkeys([*best, *also]))),
        greedy=candidates.of([int(ruled.argmax())])[0],
        chosen=candidates.of([drawn])[0],
        entropy=sampling.entropy(candidates.own),
        entropy_drawn=sampling.entropy(candidates.drawn),
        possible=int(np.count_nonzero(candidates.drawn)),
        vocabulary=candidates.own.size,
        ended=bool(question.written) and question.written[-1] in candidates.ends,
        room=max(0, min(writing.longest, loaded.limit) - len(row)),
        cached=passed.cached,
        looks=_kept(passed.looks),
        across=_kept(passed.across),
    )


def prepare(loaded: Loaded, question: Decoding[Any]) -> tuple[Reading, Writing]:
    """The prompt or the source as the model reads it, and what is written from; raises Refusal where it cannot be."""
    source = read(loaded, question.text, cut=question.cut)
    refuse_edits(loaded, question.edits, len(source.ids), None)
    longest = limit_of(loaded)
    if loaded.id.kind == "decoder":  # one token more than the prompt, so that its next token can be asked for
        longest = max(loaded.limit, len(source.ids) + 1)
    return source, Writing(source.ids, longest, question.edits)


def refuse_odd_tokens(loaded: Loaded, writing: Writing, written: Sequence[int]) -> None:
    """Raises Refusal for written tokens that the model does not have, are too many, or stand after an end."""
    refuse_tokens(loaded, written, before=len(writing.source) if loaded.id.kind == "decoder" else 1)
    ends = end_tokens(loaded.model)
    ended = [at for at, token in enumerate(written[:-1]) if token in ends]
    if ended:
        raise Refusal(
            sentence(
                "The text ends with its token {ended}, counted from 0; nothing is written after its end.",
                ended=ended[0],
            )
        )


class _Candidates:
    """Tokens of one distribution with all that is said of them."""

    def __init__(self, loaded: Loaded, question: NextStep, passed: Passed, ruled: Array) -> None:
        self.loaded, self.before = loaded, passed.tokens[0].tolist()
        if isinstance(question, NextTarget):
            self.before = self.before[1:]
        self.own: Doubles = sampling.shape(passed.logits[0].numpy())
        self.drawn: Doubles = sampling.shape(ruled, question.temperature / 100, question.top_k, question.top_p / 100)
        self.ends = end_tokens(loaded.model)
        self.order = np.argsort(-self.own, kind="stable")  # the likeliest first
        self.ranks = np.empty_like(self.order)
        self.ranks[self.order] = np.arange(1, len(self.order) + 1)

    def of(self, tokens: Sequence[int]) -> tuple[Candidate, ...]:
        """Those tokens, in their order."""
        texts = gains(self.loaded.reader, self.before, tokens)
        return tuple(
            Candidate(
                token=token,
                piece=piece,
                text=text,
                probability=float(self.own[token]),
                rank=int(self.ranks[token]),
                drawn=float(self.drawn[token]),
                ends=token in self.ends,
            )
            for token, piece, text in zip(tokens, marked(self.loaded.reader, tokens), texts, strict=True)
        )


def _refuse_odd_rule(question: NextStep) -> None:
    if question.temperature < 0 or question.top_k < 0 or question.seed < 0 or not 0 <= question.top_p <= 100:
        raise Refusal(
            sentence(
                "Temperature {temperature:g}, top-k {top_k}, top-p {top_p:g} and"
                " seed {seed} came; none may be below 0, and top-p not above 1.",
                temperature=question.temperature / 100,
                top_k=question.top_k,
                top_p=question.top_p / 100,
                seed=question.seed,
            ),
            way_out=None,
        )


def _kept(rows: Tensor | None) -> Array | None:
    """The only row's looks, (layer, head, key)."""
    return None if rows is None else numpy(rows[0].clone())
