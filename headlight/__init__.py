"""Functions for notebooks that show attention: of your own tensors, or of your own model.

``explore``, ``why``, ``similar``, ``record`` and ``load_recording`` import torch. Every function is imported at its
first use, so that importing the package is fast.

>>> import headlight
>>> headlight.view([[[0.9, 0.1], [0.4, 0.6]]], ["a", "cat"]).trace.weights(0, 0)[1].round(1).tolist()
[0.4000000059604645, 0.6000000238418579]
"""

import logging
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from headlight.labels_command import why_labels
    from headlight.notebook import Shown, explore, view
    from headlight.recorder import ModelRecording, load_recording, record
    from headlight.score_command import why
    from headlight.similar_command import similar

# Notebooks show the message of an error, not the log records with its details.
logging.getLogger("inference").addHandler(logging.NullHandler())

__all__ = ["ModelRecording", "Shown", "explore", "load_recording", "record", "similar", "view", "why", "why_labels"]

_MODULES = {
    "labels_command": ("why_labels",),
    "notebook": ("Shown", "explore", "view"),
    "recorder": ("ModelRecording", "load_recording", "record"),
    "score_command": ("why",),
    "similar_command": ("similar",),
}


def __getattr__(name: str) -> Any:
    """Import and return a public name, or a module of those that define the public names."""
    if name in _MODULES:
        return import_module(f"{__name__}.{name}")
    for module, names in _MODULES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """Return the public names, for completion in notebooks."""
    return sorted({*globals(), *__all__})
