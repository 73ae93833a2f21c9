"""What the page Teach lets its reader choose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from probing.labelled import cards

OWN = "own"  # the task is the reader's own files
SHOWS = {"results": "Results", "try": "Try a sentence", "changed": "What changed", "keep": "Keep"}
RATES = ("", "1e-05", "2e-05", "5e-05", "0.0001", "0.0002", "0.0003", "0.0005", "0.001")


@dataclass(frozen=True)
class Teach:
    """What this page lets its reader choose: a training that is looked at, or else what one is begun with."""

    CHOICES: ClassVar[dict[str, tuple[str, ...]]] = {
        "show": tuple(SHOWS),
        "data": (*cards.BY_ID, OWN),
        "kind": ("classify", "tag"),
        "rate": RATES,
    }

    job: str = ""  # the id of a training, which whoever has the link may look at
    show: str = "results"
    data: str = "snips-intents"
    kind: str = "classify"  # of one's own files
    texts_in: str = ""  # the column of texts, or of words; "" is found
    labels_in: str = ""
    start: str = ""  # the model that is taught; "" is what fits the texts' language
    start_revision: str = ""
    minutes: int = 3
    epochs: int = 3
    rate: str = ""  # the highest; "" is found from the model and the task
    length: int = 64  # pieces of a text that are read
    frozen: int = 0  # layers from below that stay as they are
    seed: int = 0
    sentence: str = ""  # of one's own, that the taught model is asked about
    label: int | None = None  # the label that is explained; None is the likeliest
    word: int | None = None  # the token whose word's tag is explained
    needed: int | None = None  # the head that links show, among those a label needs: layer times heads plus head
