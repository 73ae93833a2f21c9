"""Steps of text generation: the next token, teacher forcing, and beam search.

A request contains the tokens written so far, so every step can be requested by itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from attention import softmax
from attention.edits import Edit
from attention.mask import FloatArray
from attention.softmax import Doubles
from i18n import gettext_lazy
from inference.errors import UserError, as_user_error
from inference.loaded_model import LoadedModel
from inference.record import edit_hooks
from inference.record.batching import MOST_TOKENS
from inference.record.records import numpy
from inference.runners.blanks import display_pieces, read
from inference.runners.edit_batches import refuse_sets
from inference.tasks.decoding import (
    Beam,
    BeamBranch,
    BeamStep,
    Decoding,
    DecodingStep,
    Fate,
    ForcedSteps,
    ForcedTarget,
    NextBeams,
    NextCandidate,
    NextStep,
    NextTarget,
)
from inference.text.encoding import Encoding, check_text
from inference.text.tokenizer import extend_reading, gains, mark_pieces, text_read
from inference.write import decoding, target_text
from inference.write.decoding import NextTokenPass, Writing, end_tokens, limit_of
from inference.write.target_text import refuse_edits, refuse_tokens, target_of

MOST = 200  # candidates


def answer(loaded: LoadedModel, question: NextStep) -> DecodingStep:
    """Return the next step of a generation: candidates for the next token, and the token drawn.

    Raise UserError for impossible tokens and for invalid sampling options.
    """
    _refuse_odd_rule(question)
    source, writing = prepare(loaded, question)
    refuse_odd_tokens(loaded, writing, question.written)
    with as_user_error(
        gettext_lazy("{name} failed on this input. Change it or pick another model.", name=loaded.id.name)
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
    """Return the encoded prompt or source of a request, and the state from which generation starts.

    Raise UserError if the text cannot be read or the edits do not fit.
    """
    source = read(loaded, question.text, cut=question.cut)
    refuse_edits(loaded, question.edits, len(source.ids), None)
    longest = limit_of(loaded)
    if loaded.id.kind == "decoder":  # longer than the prompt, so that the prompt's next token can be requested
        longest = max(loaded.limit, len(source.ids) + 1)
    return source, Writing(source.ids, longest, question.edits)


def refuse_odd_tokens(loaded: LoadedModel, writing: Writing, written: Sequence[int]) -> None:
    """Raise UserError if the generated tokens ``written`` do not exist, are too many, or follow an end token."""
    refuse_tokens(loaded, written, before=len(writing.source) if loaded.id.kind == "decoder" else 1)
    ends = end_tokens(loaded.model)
    ended = [at for at, token in enumerate(written[:-1]) if token in ends]
    if ended:
        raise UserError(
            gettext_lazy(
                "The text ends with token {ended}, counted from 0; nothing follows it.",
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
            f"Temperature {question.temperature / 100:g}, top-k {question.top_k}, top-p"
            f" {question.top_p / 100:g} and seed {question.seed} came; none may be below 0, and top-p not above 1.",
            way_out=None,
        )


def _single_row(rows: Tensor | None) -> FloatArray | None:
    """Return the attention of the only row, shape (layer, head, key), or None."""
    return None if rows is None else numpy(rows[0].clone())


MOST_NUMBERS = 2**25  # logits of a batch


def force_target(loaded: LoadedModel, question: ForcedTarget) -> ForcedSteps:
    """Return the log-probability of each given token under each edit set, with teacher forcing.

    Raise UserError if edits do not fit the model.
    """
    refuse_sets(question.edits)
    if not question.written:
        raise UserError(
            gettext_lazy("The translation is empty. Type another text or your own translation."), way_out="text"
        )
    source = read(loaded, question.text, cut=question.cut)
    refuse_odd_tokens(loaded, Writing(source.ids, loaded.limit), question.written)
    target, _ = target_text.target_of(loaded, question.written)
    for mine in question.edits:
        refuse_edits(loaded, mine, len(source.ids), None)
    written = torch.tensor(question.written)
    logs, likeliest = [], []
    with as_user_error(
        gettext_lazy("{name} failed on this input. Change it or pick another model.", name=loaded.id.name)
    ):
        for found in step_log_probabilities(
            loaded.model, source.ids, target.ids[:-1], question.edits, loaded.reader.target_vocabulary
        ):
            logs.append(found.gather(-1, written.expand(len(found), -1)[..., None])[..., 0])
            likeliest.append(found.argmax(-1).to(torch.int32))
    best = torch.cat(likeliest).numpy()
    best.setflags(write=False)
    return ForcedSteps(numpy(torch.cat(logs)), best, tuple(tuple(display_pieces(loaded, row)) for row in best.tolist()))


def step_log_probabilities(
    model: Any, source: Sequence[int], read_so_far: Sequence[int], sets: Sequence[Sequence[Edit]], vocabulary: int
) -> Iterator[Tensor]:
    """Yield the decoder's next-token log-probabilities (set, step, token) for a few edit sets at a time.

    ``source`` has the token ids for the encoder, and ``read_so_far`` those for the decoder. ``vocabulary`` is the
    number of different tokens, which limits the number of sets in a pass.
    """
    width = max(len(source), len(read_so_far))
    step = max(1, min(MOST_TOKENS // width, MOST_NUMBERS // (len(read_so_far) * vocabulary)))
    for start in range(0, len(sets), step):
        some = sets[start : start + step]
        ids = torch.tensor([source]).expand(len(some), -1)
        with torch.inference_mode(), edit_hooks.apply_edits(model, some):
            output = model(
                input_ids=ids,
                attention_mask=torch.ones_like(ids),
                decoder_input_ids=torch.tensor([read_so_far]).expand(len(some), -1),
                use_cache=False,
            )
            yield output.logits.float().log_softmax(-1)


MOST_BEAMS = 12  # beams
_IMPOSSIBLE = -1e8  # lower scores belong to tokens that the model's logits processors forbid


@dataclass(frozen=True)
class _Way:
    """A beam extended by a candidate token."""

    parent: int
    tokens: tuple[int, ...]
    score: float
    stops: bool


def step_beams(loaded: LoadedModel, question: NextBeams) -> BeamStep:
    """Return the beams after another step; raise UserError if beam search cannot lead to the given beams."""
    _, writing = prepare(loaded, question)
    beams = question.beams or (Beam(),)
    _refuse_odd(loaded, question, writing, beams)
    with as_user_error(
        gettext_lazy("{name} failed on this input. Change it or pick another model.", name=loaded.id.name)
    ):
        return _step(loaded, question, writing, beams)


def _step(loaded: LoadedModel, question: NextBeams, writing: Writing, beams: Sequence[Beam]) -> BeamStep:
    passed = decoding.read(loaded.model, writing, [beam.tokens for beam in beams])
    settings = passed.start.settings
    ways = _candidate_beams(loaded, writing, passed, beams, question.width)
    length = len(beams[0].tokens) + 1
    alive = [way for way in ways if not way.stops][: question.width]
    ended = [way for way in ways[: question.width] if way.stops]
    new = [
        Beam(way.tokens, way.score / length**settings.length_penalty, target_of(loaded, way.tokens)[1]) for way in ended
    ]
    finished = tuple(sorted([*question.finished, *new], key=lambda beam: -beam.score)[: question.width])
    kept_ends = {beam.tokens for beam in finished}
    pieces = mark_pieces(loaded.reader, [way.tokens[-1] for way in ways])
    return BeamStep(
        beams=tuple(Beam(way.tokens, way.score, target_of(loaded, way.tokens)[1]) for way in alive),
        finished=finished,
        branches=tuple(
            BeamBranch(way.parent, way.tokens[-1], piece, way.score, _outcome_of(way, alive, ended, kept_ends))
            for way, piece in zip(ways, pieces, strict=True)
        ),
        done=_is_finished(alive, finished, question.width, length, writing.longest - 1, settings),
    )


def _candidate_beams(
    loaded: LoadedModel, writing: Writing, passed: decoding.NextTokenPass, beams: Sequence[Beam], width: int
) -> list[_Way]:
    """Return the most probable continuations, best first; enough of them even if every beam ends."""
    ends = end_tokens(loaded.model)
    before = torch.tensor([beam.score for beam in beams], dtype=torch.float32)
    scores = passed.apply_rules(passed.logits.log_softmax(-1)) + before[:, None]  # (beam, token)
    looked_at = min(max(2, 1 + len(ends)) * width, scores.numel())
    best, places = scores.flatten().topk(looked_at)
    last = passed.tokens.shape[1] + 1 >= writing.longest
    found = [
        (place // scores.shape[1], place % scores.shape[1], score)
        for place, score in zip(places.tolist(), best.tolist(), strict=True)
        if score > _IMPOSSIBLE
    ]
    return [
        _Way(parent, (*beams[parent].tokens, token), score, last or token in ends) for parent, token, score in found
    ]


def _outcome_of(way: _Way, alive: Sequence[_Way], ended: Sequence[_Way], kept_ends: set[tuple[int, ...]]) -> Fate:
    if way in ended:
        return "ended" if way.tokens in kept_ends else "dropped"
    return "kept" if way in alive else "dropped"


def _is_finished(  # noqa: PLR0913  # all that generate's own rule depends on
    alive: Sequence[_Way], finished: Sequence[Beam], width: int, length: int, longest: int, settings: Any
) -> bool:
    """Return True if ``generate`` stops here.

    It stops if no beam is left, or if no beam is expected to score better than those that ended.
    """
    if not alive:
        return True
    if len(finished) < width:
        return False
    if settings.early_stopping is True:
        return True
    penalty = settings.length_penalty
    hoped = longest if settings.early_stopping == "never" and penalty > 0 else length
    return bool(alive[0].score / hoped**penalty <= finished[-1].score)


def _refuse_odd(loaded: LoadedModel, question: NextBeams, writing: Writing, beams: Sequence[Beam]) -> None:
    if not 2 <= question.width <= MOST_BEAMS:  # rules change log-probabilities here, but logits in greedy search
        raise UserError(
            gettext_lazy(
                "{width} beams were requested; expected 2 to {most}.",
                width=question.width,
                most=MOST_BEAMS,
            ),
            way_out=None,
        )
    lengths = {len(beam.tokens) for beam in beams}
    if len(beams) > question.width or len(lengths) > 1 or question.written:
        raise UserError(
            gettext_lazy(
                "Got {beams} beams of {lengths} tokens; expected at most {width} beams of equal length and "
                "no other written tokens.",
                beams=len(beams),
                lengths=sorted(lengths),
                width=question.width,
            ),
            way_out=None,
        )
    for beam in beams:
        refuse_odd_tokens(loaded, writing, (*beam.tokens, 0))
