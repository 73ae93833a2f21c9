"""Options of the Teach page, as they appear in its address."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from i18n import gettext_lazy
from probing.labelled import ready_sets
from ui.show.scored_links import PaginationOptions

OWN = "own"  # The data set is made from the visitor's own files.
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
    """Options of the Teach page: the training that is shown, or else the settings of a new training."""

    CHOICES: ClassVar[dict[str, tuple[str, ...]]] = {
        **PaginationOptions.CHOICES,
        "show": tuple(SHOWS),
        "data": (*ready_sets.BY_ID, OWN),
        "kind": ("classify", "tag"),
        "rate": RATES,
        "rows": tuple(ROWS),
    }

    job: str = ""  # The id of a training; anyone with the link can open it.
    show: str = "results"
    data: str = "snips-intents"
    kind: str = "classify"  # The task of own files.
    texts_in: str = ""  # The column of texts or words; "" for automatic detection.
    labels_in: str = ""
    start: str = ""  # The model to fine-tune; "" for a model that fits the language of the texts.
    start_revision: str = ""
    minutes: int = 3
    epochs: int | None = None  # None for the default of the initial model.
    rate: str = ""  # The peak learning rate; "" for a default by model and task.
    length: int = 64  # The maximum number of tokens of a text.
    frozen: int = 0  # The number of frozen layers, counted from the embeddings.
    seed: int = 0
    outcome: str = "misses"  # The filter of the test rows.
    true: int | None = None  # True label of the confusion matrix cell that filters the test rows, an index.
    said: int | None = None
    classes: int = 10  # Labels of the confusion matrix; those with fewer errors are summed up.
    sentence: str = ""  # A typed sentence for the fine-tuned model.
    label: int | None = None  # The index of the explained label; None for the likeliest.
    word: int | None = None  # The first token of the word with the explained tag.
    moved: int | None = None  # The head with the compared maps: layer × heads + head.
    needed: int | None = None  # The head in links from the ablation map: layer × heads + head.
    rows: str = "all"  # The rows of the compared maps.
    example: int = 1  # The sentence of the compared maps, from 1.
    frame: int = 0  # The training snapshot, from 1; 0 is the last.
    removed: bool = False  # Ablate each head in turn.
