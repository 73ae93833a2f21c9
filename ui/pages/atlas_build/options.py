"""Options of the view Build atlas, as they appear in its address."""

from __future__ import annotations

from dataclasses import dataclass

from i18n import gettext_lazy
from inference import EMBEDDED
from training.jobs.atlas_builds import DEFAULT_TOKENS
from viz.options import option


@dataclass(frozen=True)
class AtlasBuildOptions:
    """Options of the view Build atlas."""

    build: str = ""  # The id of a build; "" shows the form.
    start: str = EMBEDDED  # The model.
    start_revision: str = ""
    tokens: int = option(
        DEFAULT_TOKENS,
        label=gettext_lazy("Tokens"),
        help=gettext_lazy("The maximum; 50,000 tokens take about a minute, a million about ten."),
    )
