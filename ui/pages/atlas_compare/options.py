"""Options of the view Compare atlases, as they appear in its address."""

from __future__ import annotations

from dataclasses import dataclass

from i18n import gettext_lazy
from ui.show.atlases import MEASURE_TITLES, AtlasChoiceOptions
from viz.options import option

PROFILE, SHARED = "profile", "shared"
SHOWN: dict[str, str] = {
    PROFILE: gettext_lazy("distance of profiles"),
    SHARED: gettext_lazy("shared links (%)"),
    **MEASURE_TITLES,
}


@dataclass(frozen=True)
class AtlasCompareOptions(AtlasChoiceOptions):
    """Options of the view Compare atlases: the first atlas (inherited), the second, and the measure."""

    other: str = option(
        "",
        label=gettext_lazy("Compare with"),
        help=gettext_lazy("An atlas with the same layers and heads."),
        name="with",
    )
    show: str = option(
        PROFILE,
        label=gettext_lazy("Measure"),
        help=gettext_lazy("Differences are second minus first."),
        choices=SHOWN,
    )
