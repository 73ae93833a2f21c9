"""Options of the Teach page, as they appear in its address."""

from __future__ import annotations

from dataclasses import dataclass

from i18n import gettext_lazy
from probing.labelled import ready_sets
from ui.show.scored_links import PaginationOptions
from viz.options import option

OWN = "own"  # The data set is made from the visitor's own files.
SHOWS = {
    "results": gettext_lazy("Results"),
    "try": gettext_lazy("Try a sentence"),
    "changed": gettext_lazy("Changes"),
    "keep": gettext_lazy("Keep"),
}
FOUND = gettext_lazy("automatic")
RATES = ("", "1e-05", "2e-05", "5e-05", "0.0001", "0.0002", "0.0003", "0.0005", "0.001")
ROWS = {"all": gettext_lazy("All tokens"), "telling": gettext_lazy("Label positions")}


@dataclass(frozen=True)
class TeachOptions(PaginationOptions):
    """Options of the Teach page: the training that is shown, or else the settings of a new training."""

    job: str = ""  # The id of a training; anyone with the link can open it.
    show: str = option(
        "results",
        label=gettext_lazy("View"),
        choices=SHOWS,
    )
    data: str = option(
        "snips-intents",
        label=gettext_lazy("Task data"),
        choices=(*ready_sets.BY_ID, ready_sets.QUESTIONS.id, OWN),
    )
    # The task of own files.
    kind: str = option(
        "classify",
        label=gettext_lazy("Task type"),
        help=gettext_lazy("Classify texts, tag words, or mark answers in a passage"),
        choices={
            "classify": gettext_lazy("Text classification"),
            "tag": gettext_lazy("Token classification"),
            "answer": gettext_lazy("Question answering"),
        },
    )
    texts_in: str = ""  # The column of texts or words; "" for automatic detection.
    labels_in: str = ""
    start: str = ""  # The model to fine-tune; "" for a model that fits the language of the texts.
    start_revision: str = ""
    minutes: int = 3
    epochs: int | None = None  # None for the default of the initial model.
    # The peak learning rate; "" for a default by model and task.
    rate: str = option(
        "",
        label=gettext_lazy("Learning rate"),
        help=gettext_lazy("Peak, after warm-up over 6% of steps; then linear decay"),
        choices={rate: rate or FOUND for rate in RATES},
    )
    length: int | None = None  # The maximum number of tokens of a text; None for the default of the task.
    frozen: int = 0  # The number of frozen layers, counted from the embeddings.
    seed: int = 0
    outcome: str = "misses"  # The filter of the test rows.
    true: int | None = None  # True label of the confusion matrix cell that filters the test rows, an index.
    said: int | None = None
    # Labels of the confusion matrix; those with fewer errors are summed up.
    classes: int = option(
        10,
        label=gettext_lazy("Labels shown"),
        help=gettext_lazy("Labels with most errors; the others are summed up."),
    )
    sentence: str = ""  # A typed sentence for the fine-tuned model.
    label: int | None = None  # The index of the explained label; None for the likeliest.
    word: int | None = None  # The first token of the word with the explained tag.
    moved: int | None = None  # The head with the compared maps: layer × heads + head.
    needed: int | None = None  # The head in links from the ablation map: layer × heads + head.
    edits: str = ""  # Packed edits of the model that reads the typed sentence.
    # The rows of the compared maps.
    rows: str = option(
        "all",
        label=gettext_lazy("Map rows"),
        help=gettext_lazy("All rows of a map, or only those whose output is classified"),
        choices=ROWS,
    )
    # The sentence of the compared maps, from 1.
    example: int = option(
        1, label=gettext_lazy("Sentence"), help=gettext_lazy("Test rows with texts unseen in training")
    )
    # The training snapshot, from 1; 0 is the last.
    frame: int = option(
        0,
        label=gettext_lazy("Training step"),
    )
    # Ablate each head in turn.
    removed: bool = option(
        False,
        label=gettext_lazy("Ablate each head"),
        help=gettext_lazy("A changed head need not affect the answer."),
    )
