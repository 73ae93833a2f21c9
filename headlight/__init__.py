"""Headlight in a notebook: your own tensors, your own model. Importing it is cheap; torch comes with ``explore``.

>>> import headlight
>>> headlight.view([[[0.9, 0.1], [0.4, 0.6]]], ["a", "cat"]).trace.weights(0, 0)[1].round(1).tolist()
[0.4000000059604645, 0.6000000238418579]
"""

import logging

from headlight.calls import explore, view
from headlight.notebook import Shown

logging.getLogger("inference").addHandler(logging.NullHandler())  # a notebook sees a refusal, not its details

__all__ = ["Shown", "explore", "view"]
