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
    "changed": gettext_lazy("What changed"),
    "keep": gettext_lazy("Keep"),
}
FOUND = gettext_lazy("found from the model and the task")
RATES = ("", "1e-05", "2e-05", "5e-05", "0.0001", "0.0002", "0.0003", "0.0005", "0.001")
ROWS = {"all": gettext_lazy("All pieces"), "telling": gettext_lazy("Where the label is read")}


@dataclass(frozen=True)
class TeachOptions(PaginationOptions):
    """Options of the Teach page: the training that is shown, or else the settings of a new training."""

    job: str = ""  # The id of a training; anyone with the link can open it.
    show: str = option(
        "results",
        label=gettext_lazy("View"),
        help=gettext_lazy("How well it does, on a sentence of your own, what changed in its heads, and how to keep it"),
        choices=SHOWS,
    )
    data: str = option(
        "snips-intents",
        label=gettext_lazy("What is to be learned"),
        help=gettext_lazy("Sets that come with the app, each with its licence and its source, or files of your own"),
        choices=(*ready_sets.BY_ID, OWN),
    )
    # The task of own files.
    kind: str = option(
        "classify",
        label=gettext_lazy("What is labelled"),
        help=gettext_lazy("Texts are told by their class, or words in them are found and named"),
        choices={"classify": gettext_lazy("A class for each text"), "tag": gettext_lazy("A tag for each word")},
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
        label=gettext_lazy("Rate"),
        help=gettext_lazy(
            "The largest step that the weights take; it is reached after 6 % of the steps and falls to 0 at the last"
        ),
        choices={rate: rate or FOUND for rate in RATES},
    )
    length: int = 64  # The maximum number of tokens of a text.
    frozen: int = 0  # The number of frozen layers, counted from the embeddings.
    seed: int = 0
    outcome: str = "misses"  # The filter of the test rows.
    true: int | None = None  # True label of the confusion matrix cell that filters the test rows, an index.
    said: int | None = None
    # Labels of the confusion matrix; those with fewer errors are summed up.
    classes: int = option(
        10,
        label=gettext_lazy("Labels in the figure"),
        help=gettext_lazy(
            "Those with most mistakes, in the order of the labels; all others are added up in a last row and column."
        ),
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
        label=gettext_lazy("Rows of the maps"),
        help=gettext_lazy(
            "All rows of a head's map, or only where the label is read: at [CLS] and its like for the class of a "
            "text, at the words that are tagged for tags"
        ),
        choices=ROWS,
    )
    # The sentence of the compared maps, from 1.
    example: int = option(
        1, label=gettext_lazy("Sentence"), help=gettext_lazy("Test rows that no train row has the text of")
    )
    # The training snapshot, from 1; 0 is the last.
    frame: int = option(
        0,
        label=gettext_lazy("Step of the training"),
        help=gettext_lazy("The evaluations on the way; the maps are those that the model had then"),
    )
    # Ablate each head in turn.
    removed: bool = option(
        False,
        label=gettext_lazy("Remove each head in turn"),
        help=gettext_lazy(
            "Reads some of the sentences once without each head of the taught model: what has changed need not be "
            "what its answer rests on"
        ),
    )
