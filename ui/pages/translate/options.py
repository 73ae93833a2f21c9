"""Options of the page Translate."""

from __future__ import annotations

from dataclasses import dataclass

from attention.edits import drop_token_edits
from i18n import gettext_lazy
from ui.input.view_options import HELP
from ui.state.params import AnsweringOptions, drop_place
from viz.options import option

SHOWS = {
    "words": gettext_lazy("Alignment"),
    "step": gettext_lazy("One step"),
    "beams": gettext_lazy("Beams"),
    "heads": gettext_lazy("All heads"),
    "without": gettext_lazy("Ablation"),
    "best": gettext_lazy("Head scores"),
}
WAYS = {"greedy": gettext_lazy("Greedy"), "beam": gettext_lazy("Beam search"), "own": gettext_lazy("Your own")}
SIDES = {"encoder": gettext_lazy("Encoder"), "decoder": gettext_lazy("Decoder"), "cross": gettext_lazy("Cross")}
CLICKS = {"head": gettext_lazy("Ablate heads"), "cut": gettext_lazy("Mask edges")}
SCOPES = {"head": gettext_lazy("This head"), "layer": gettext_lazy("This layer"), "all": gettext_lazy("All layers")}


@dataclass(frozen=True)
class TranslateOptions(AnsweringOptions):
    """Options of the page Translate."""

    show: str = option(
        "words",
        label=gettext_lazy("View"),
        choices=SHOWS,
    )
    # "" selects the reader's own translation if there is a target text, else greedy decoding.
    way: str = option(
        "",
        label=gettext_lazy("Decoding"),
        help=gettext_lazy(
            "Greedy writes the likeliest token; “Your own” reads the typed translation (teacher forcing)."
        ),
        choices=WAYS,
    )
    # Beam width.
    width: int = option(4, label=gettext_lazy("Beams"), help=gettext_lazy("Partial translations kept at each step"))
    step: int | None = option(None, of_text=drop_place)  # index of the token that the chosen step writes
    # The cross head, such as "2-7", or "mean"; "" selects the head with the largest coverage.
    cross: str = option(
        "",
        label=gettext_lazy("Cross head"),
        help=gettext_lazy("Found: the head with the highest coverage, the mean of each source token's largest weight."),
    )
    # Read the matrix at each word's own position.
    late: bool = option(
        False,
        label=gettext_lazy("One step later"),
        help=gettext_lazy("Rows at the word's own position, where the decoder predicts the next word."),
    )
    # The stack of the displayed or ablated heads.
    side: str = option(
        "cross",
        label=gettext_lazy("Attention"),
        help=HELP,
        choices=SIDES,
    )
    top: int = option(8, label=gettext_lazy("Candidates"))
    # Include dropped branches in the tree of beams.
    dropped: bool = option(
        False,
        label=gettext_lazy("Dropped beams"),
        help=gettext_lazy("Also draw the continuations that were not kept."),
    )
    edits: str = option("", of_text=drop_token_edits)  # "" ablates the chosen cross head, "-" nothing
    clicking: str = option(
        "head",
        label=gettext_lazy("Click action"),
        help=gettext_lazy("Ablate: click a head on the map. Mask: click a translated, then a source word."),
        choices=CLICKS,
    )
    scope: str = option(
        "head",
        label=gettext_lazy("Mask in"),
        choices=SCOPES,
    )
