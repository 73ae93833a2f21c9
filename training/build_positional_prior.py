"""A script that writes assets/habits.safetensors: the heads' positional priors.

    python -m training.build_positional_prior

It covers the embedded models. Run it again if their weights change; a test compares the file with the models.
"""

from __future__ import annotations

from inference import LocalBackend
from inference.catalogue.listing import EMBEDDED_CARD, OWN_CARDS
from inference.settings import Settings
from probing.reference_priors import measure_priors, store

if __name__ == "__main__":
    backend = LocalBackend(Settings(offline=True))
    store({card.id: measure_priors(backend, card.id, None, card.kind) for card in (EMBEDDED_CARD, *OWN_CARDS)})
