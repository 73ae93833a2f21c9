"""A step of beam search, with the candidates, penalties and end conditions of ``generate``.

Each step depends on the beams before it only, so that every step can be requested by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from i18n import gettext_lazy
from inference.errors import UserError, as_user_error
from inference.loaded_model import LoadedModel
from inference.runners.decoding import prepare, refuse_odd_tokens
from inference.tasks.decoding import Beam, BeamBranch, BeamStep, Fate, NextBeams
from inference.text.next_token_text import mark_pieces
from inference.write import decoding
from inference.write.decoding import Writing, end_tokens
from inference.write.target_text import target_of

MOST = 12  # beams
_IMPOSSIBLE = -1e8  # lower scores belong to tokens that the model's logits processors forbid


@dataclass(frozen=True)
class _Way:
    """A beam extended by a candidate token."""

    parent: int
    tokens: tuple[int, ...]
    score: float
    stops: bool


def answer(loaded: LoadedModel, question: NextBeams) -> BeamStep:
    """Return the step after the beams of the request; raise UserError if no step could give those beams."""
    _, writing = prepare(loaded, question)
    beams = question.beams or (Beam(),)
    _refuse_odd(loaded, question, writing, beams)
    with as_user_error(
        gettext_lazy("{name} failed while writing here. Change the text or pick another model.", name=loaded.id.name)
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
    if not 2 <= question.width <= MOST:  # rules change log-probabilities here, but logits in greedy search
        raise UserError(
            gettext_lazy(
                "{width} beams were asked for; 2 to {most} can be followed. One text alone is written token by token.",
                width=question.width,
                most=MOST,
            ),
            way_out=None,
        )
    lengths = {len(beam.tokens) for beam in beams}
    if len(beams) > question.width or len(lengths) > 1 or question.written:
        raise UserError(
            gettext_lazy(
                "{beams} beams of {lengths} tokens came; at most {width} of equally many tokens go"
                " on together, and nothing is written beside them.",
                beams=len(beams),
                lengths=sorted(lengths),
                width=question.width,
            ),
            way_out=None,
        )
    for beam in beams:
        refuse_odd_tokens(loaded, writing, (*beam.tokens, 0))
