"""Options of the page Translate."""

from __future__ import annotations

from dataclasses import dataclass

from attention.edits import drop_token_edits
from i18n import gettext_lazy
from ui.state.params import AnsweringOptions, drop_place
from viz.options import option

SHOWS = {
    "words": gettext_lazy("Which word from which"),
    "step": gettext_lazy("One step"),
    "beams": gettext_lazy("Beams"),
    "heads": gettext_lazy("All heads"),
    "without": gettext_lazy("Without a head"),
    "best": gettext_lazy("Which head aligns best?"),
}
WAYS = {"greedy": gettext_lazy("Greedy"), "beam": gettext_lazy("Beam search"), "own": gettext_lazy("Your own")}
SIDES = {"encoder": gettext_lazy("Encoder"), "decoder": gettext_lazy("Decoder"), "cross": gettext_lazy("Cross")}
CLICKS = {"head": gettext_lazy("Remove heads"), "cut": gettext_lazy("Cut a look")}
SCOPES = {
    "head": gettext_lazy("In this head"),
    "layer": gettext_lazy("In its whole layer"),
    "all": gettext_lazy("In every layer"),
}


@dataclass(frozen=True)
class TranslateOptions(AnsweringOptions):
    """Options of the page Translate."""

    show: str = option(
        "words",
        label=gettext_lazy("Look at"),
        help=gettext_lazy(
            "The alignment matrix, the decoding step by step, the beams as a tree, every head of every part, "
            "experiments, and heads scored on hand-aligned sentences"
        ),
        choices=SHOWS,
    )
    # "" selects the reader's own translation if there is a target text, else greedy decoding.
    way: str = option(
        "",
        label=gettext_lazy("The translation is"),
        help=gettext_lazy(
            "Greedy: the likeliest token at each step. Beam search: several ways are followed at once. Your own: "
            "what you typed under “Translation”, read as if the model had written it."
        ),
        choices=WAYS,
    )
    # Beam width.
    width: int = option(4, label=gettext_lazy("Beams"), help=gettext_lazy("How many ways are followed at once"))
    step: int | None = option(None, of_text=drop_place)  # index of the token that the chosen step writes
    # The cross head, such as "2-7", or "mean"; "" selects the head with the largest coverage.
    cross: str = option(
        "",
        label=gettext_lazy("Cross head"),
        help=gettext_lazy(
            "Layer and head of the decoder's attention across to the source. “Found” is the one that best picks the "
            "source words one by one in this very sentence: each source token's largest weight over all steps, "
            "averaged. Or the mean over every cross head."
        ),
    )
    # Read the matrix at each word's own position.
    late: bool = option(
        False,
        label=gettext_lazy("Read one step later"),
        help=gettext_lazy(
            "Reads each row where the word itself stands in the decoder. To compare: there it is already written, "
            "and the decoder looks for the next one."
        ),
    )
    # The stack of the displayed or ablated heads.
    side: str = option(
        "cross",
        label=gettext_lazy("Heads of"),
        help=gettext_lazy(
            "The encoder reads the source, the decoder looks back at what is written, and across at the source."
        ),
        choices=SIDES,
    )
    top: int = option(
        8,
        label=gettext_lazy("Candidates shown"),
        help=gettext_lazy("How many of the likeliest tokens are listed, here and above"),
    )
    # Include dropped branches in the tree of beams.
    dropped: bool = option(
        False,
        label=gettext_lazy("Show what was dropped"),
        help=gettext_lazy("The continuations that a step looked at and did not keep"),
    )
    edits: str = option("", of_text=drop_token_edits)  # "" ablates the chosen cross head, "-" nothing
    clicking: str = option(
        "head",
        label=gettext_lazy("Click action"),
        help=gettext_lazy(
            "Heads are clicked on the map below. For a look that is cut, click a word of the translation above, then "
            "the source word that it must no longer see."
        ),
        choices=CLICKS,
    )
    scope: str = option(
        "head",
        label=gettext_lazy("Cut"),
        help=gettext_lazy("The cross head that is chosen, all cross heads of its layer, or every cross head"),
        choices=SCOPES,
    )
