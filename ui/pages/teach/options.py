"""What the page Teach lets its reader choose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from i18n import gettext_lazy
from probing.labelled import ready_sets
from ui.show.scored_links import PaginationOptions

OWN = "own"  # the task is the reader's own files
SHOWS = {
    "results": gettext_lazy("Results"),
    "try": gettext_lazy("Try a sentence"),
    "changed": gettext_lazy("What changed"),
    "keep": gettext_lazy("Keep"),
}
RATES = ("", "1e-05", "2e-05", "5e-05", "0.0001", "0.0002", "0.0003", "0.0005", "0.001")
ROWS = {"all": gettext_lazy("All pieces"), "telling": gettext_lazy("Where the label is read")}


@dataclass(frozen=True)
class TeachOptions(PaginationOptions):
    """What this page lets its reader choose: a training that is looked at, or else what one is begun with."""

    CHOICES: ClassVar[dict[str, tuple[str, ...]]] = {
        **PaginationOptions.CHOICES,
        "show": tuple(SHOWS),
        "data": (*ready_sets.BY_ID, OWN),
        "kind": ("classify", "tag"),
        "rate": RATES,
        "rows": tuple(ROWS),
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
    epochs: int | None = None  # passes over the rows; None is what fits the start
    rate: str = ""  # the highest; "" is found from the model and the task
    length: int = 64  # pieces of a text that are read
    frozen: int = 0  # layers from below that stay as they are
    seed: int = 0
    outcome: str = "misses"  # of the test rows: the surest mistakes come first
    true: int | None = None  # the cell of the confusion matrix whose test rows are shown, as numbers of the labels
    said: int | None = None
    classes: int = 10  # of the confusion matrix; those with fewer mistakes are added up
    sentence: str = ""  # of one's own, that the taught model is asked about
    label: int | None = None  # the label that is explained; None is the likeliest
    word: int | None = None  # the token whose word's tag is explained
    moved: int | None = None  # the head whose maps are compared: layer times heads plus head
    needed: int | None = None  # the head that links show, among those a label needs: layer times heads plus head
    rows: str = "all"  # of the maps that are compared
    example: int = 1  # the sentence of those maps, from 1
    frame: int = 0  # of the film, from 1; 0 is the last
    removed: bool = False  # whether each head is removed in turn, to see which are used
