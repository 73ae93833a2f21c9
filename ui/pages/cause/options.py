"""Address parameters of the page Cause."""

from __future__ import annotations

from dataclasses import dataclass

from attention.edits import drop_token_edits
from i18n import gettext_lazy
from ui.state.params import AnsweringOptions, drop_place
from viz.options import option

WATCHES = {
    "vector": gettext_lazy("Sentence vector"),
    "blank": gettext_lazy("Masked word"),
    "follows": gettext_lazy("Next sentence"),
    "next": gettext_lazy("Next token"),
    "label": gettext_lazy("Label of the text"),
    "tag": gettext_lazy("Tag of a word"),
}
CLICKS = {
    "ablate": gettext_lazy("Ablate heads"),
    "uniform": gettext_lazy("Uniform weights"),
    "cut": gettext_lazy("Mask edge"),
    "hide": gettext_lazy("Mask word"),
}


@dataclass(frozen=True)
class CauseOptions(AnsweringOptions):
    """Options of the page Cause."""

    watch: str = option(
        "vector",
        label=gettext_lazy("Output"),
        help=gettext_lazy("The output of the model whose change is measured."),
        choices=WATCHES,
    )
    first: str = ""  # first and second are the compared words or labels; "" is the likeliest
    second: str = ""
    # Token of the tagged word; None is the word with the surest label.
    word: int | None = option(
        None,
        label=gettext_lazy("Word"),
        help=gettext_lazy("The word whose tag is measured; predictions are shown beside the words."),
        of_text=drop_place,
    )
    # Packed edits; "" ablates the selected head, if any, and "-" is no edit.
    edits: str = option("", of_text=drop_token_edits)
    clicking: str = option(
        "ablate",
        label=gettext_lazy("Click action"),
        help=gettext_lazy("Click heads. To mask an edge, click a head, its query word and its key word."),
        choices=CLICKS,
    )
    looks: int | None = option(None, of_text=drop_place)  # query token of the edge to mask, until the key is clicked
    # Layer in which clicks hide a word; None is every layer.
    where: int | None = option(
        None,
        label=gettext_lazy("Masked in"),
        help=gettext_lazy("In every layer, the other words cannot attend to it."),
    )
    later: int | None = None  # head whose rows are compared: layer · heads + head
    greedy: str = option(
        "least",
        label=gettext_lazy("Each step ablates"),
        help=gettext_lazy("Each step ablates the head that changes the answer least or most, of all that remain."),
        choices={"least": gettext_lazy("the least"), "most": gettext_lazy("the most")},
    )
    # Number of heads that the curve removes.
    steps: int | None = option(
        None,
        label=gettext_lazy("Heads to ablate"),
        help=gettext_lazy("Each step tries every remaining head, so many steps take time."),
    )
    curve: bool = False
