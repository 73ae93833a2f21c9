"""Options of the view Word pairs, as they appear in its address."""

from __future__ import annotations

from dataclasses import dataclass

from i18n import gettext_lazy
from ui.show.atlases import AtlasChoiceOptions
from viz.options import option


@dataclass(frozen=True)
class AtlasSearchOptions(AtlasChoiceOptions):
    """Options of the view Word pairs."""

    query: str = option(
        "it", label=gettext_lazy("From"), help=gettext_lazy("The word that attends; * means any."), name="from"
    )
    key: str = option("*", label=gettext_lazy("To"), help=gettext_lazy("The attended word; * means any."), name="onto")
    query_tag: str = option(
        "", label=gettext_lazy("From: speech part"), help=gettext_lazy("Such as PRON."), name="from_tag"
    )
    key_tag: str = option(
        "", label=gettext_lazy("To: speech part"), help=gettext_lazy("Such as NOUN."), name="onto_tag"
    )
    only: bool = option(False, label=gettext_lazy("Selected head"))
    nearest: int = option(0, label=gettext_lazy("Least distance"), help=gettext_lazy("Distance in tokens."))
    least: int = option(0, label=gettext_lazy("Least excess (%)"))
