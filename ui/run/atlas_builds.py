"""The builds of head atlases that the sessions of this process share."""

from __future__ import annotations

import threading
from functools import cache

from inference.files import sources
from inference.settings import Settings
from training.jobs.atlas_builds import AtlasBuilds
from ui.run.services import get_backend

_MAKING = threading.Lock()


def builds() -> AtlasBuilds:
    """Return the builds of all visitors."""
    with _MAKING:  # two objects would not share their process
        return _builds(get_backend().settings)


@cache
def _builds(settings: Settings) -> AtlasBuilds:
    return AtlasBuilds(sources.fine_tuned_root(settings))
