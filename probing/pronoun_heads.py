"""The head that best links pronouns: chosen on one half of the sentences and scored on the other.

The bundled sentences have a pronoun and two candidates. Results of the bundled models are stored with the app, so that
a page shows them without a computation.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from attention.trace import ModelId
from probing.corpus import GAP_RELATION
from probing.formats import load_ready_set
from probing.results import held_out_best
from probing.score import HitCounts, ScoringBackend, ScoringRun, ScoringState, score
from probing.statistics import RULES

PRONOUNS = "pronouns"  # the set of sentences with a pronoun and two candidates, in `probing.formats.READY`
REPORTED_HALF = 1  # the half of the sentences that does not choose the head
FROM_PRONOUN = 0  # the direction from the pronoun to the candidate
STORED = Path(__file__).resolve().parent.parent / "assets" / "pronoun_heads.json"  # of the bundled models


@dataclass(frozen=True)
class PronounHeadScore:
    """The accuracy of the best head, and of the best rule, on held-out pronoun links; layer and head count from 0.

    Accuracy is the percentage of links that the head finds; ``low`` and ``high`` are the ends of its 95 % interval.
    ``rule`` is the English name of the rule, and ``rule_accuracy`` its accuracy on the same links. ``p`` is from a
    two-sided test of head against rule, paired by group of dependent sentences. It is not corrected, because a single
    head is tested.
    ``hits`` (layer, head) has the number of held-out links that each head finds.
    """

    layer: int
    head: int
    accuracy: float
    low: float
    high: float
    links: int
    rule: str
    rule_accuracy: float
    p: float
    hits: tuple[tuple[int, ...], ...]


def best_pronoun_head(tally: HitCounts) -> PronounHeadScore | None:
    """Choose the best head for pronouns on half of the sentences, and return its score on the remaining half.

    ``tally`` has the links that each head finds. Return None if a half has no links.
    """
    row = held_out_best(tally, load_ready_set(PRONOUNS), GAP_RELATION)
    counts = tally.counts_of(GAP_RELATION, REPORTED_HALF)
    if row is None or counts is None:
        return None
    hits = tuple(tuple(layer) for layer in counts.hits_by_head[FROM_PRONOUN].tolist())
    return PronounHeadScore(
        row.layer, row.head, row.accuracy, row.low, row.high, row.n, row.baseline_name, row.baseline, row.p, hits
    )


def measure_pronoun_head(backend: ScoringBackend, model: str, revision: str | None = None) -> PronounHeadScore | None:
    """Score all heads of a model on the bundled pronouns and return the best; raise UserError if it cannot read them.

    Return None if a half of the sentences has no links.
    """
    run = ScoringRun(load_ready_set(PRONOUNS), model, revision)
    state = ScoringState(run.key)
    for _finished in score(backend, run, state):
        pass
    return best_pronoun_head(state.tally)


def store(found: Mapping[ModelId, PronounHeadScore], file: Path = STORED) -> None:
    """Write the best pronoun heads of some models to a file; the keys are hashes of the weights."""
    entries = {model.weights: {"model": model.name, **asdict(head)} for model, head in found.items()}
    file.write_text(json.dumps(entries, indent=1) + "\n", encoding="utf-8")


def stored_pronoun_head(model: ModelId, file: Path = STORED) -> PronounHeadScore | None:
    """Return the stored pronoun head of a model with exactly these weights, or None.

    >>> stored_pronoun_head(ModelId("headlight-bert", None, "encoder", "BertModel", "other weights")) is None
    True
    """
    return _load_stored(file).get(model.weights or "")


@cache
def _load_stored(file: Path) -> dict[str, PronounHeadScore]:
    entries = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    return {weights: _read_score(entry) for weights, entry in entries.items()}


def _read_score(entry: dict[str, Any]) -> PronounHeadScore:
    fields = {name: value for name, value in entry.items() if name not in ("model", "rule", "hits")}
    rule = next((rule for rule in RULES.values() if rule == entry["rule"]), entry["rule"])  # a message, translatable
    return PronounHeadScore(**fields, rule=rule, hits=tuple(tuple(layer) for layer in entry["hits"]))
