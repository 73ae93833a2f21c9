"""Functions for notebooks that show attention: of your own tensors, or of your own model.

``explore``, ``why`` and ``similar`` import torch.

>>> import headlight
>>> headlight.view([[[0.9, 0.1], [0.4, 0.6]]], ["a", "cat"]).trace.weights(0, 0)[1].round(1).tolist()
[0.4000000059604645, 0.6000000238418579]
"""

import logging

from headlight.labels_command import why_labels
from headlight.notebook import Shown, explore, view
from headlight.score_command import why
from headlight.similar_command import similar

# Notebooks show the message of an error, not the log records with its details.
logging.getLogger("inference").addHandler(logging.NullHandler())

__all__ = ["Shown", "explore", "similar", "view", "why", "why_labels"]
