"""Writes assets/habits.safetensors: what the heads of the embedded models do whatever the text says.

    python -m training.build_positional_prior

To be run again when the weights of an embedded model change; a test compares the file with the models.
"""

from __future__ import annotations

from inference import LocalBackend
from inference.catalogue.listing import EMBEDDED_CARD, OWN_CARDS
from inference.settings import Settings
from probing.reference_priors import measure_priors, store

if __name__ == "__main__":
    backend = LocalBackend(Settings(offline=True))
    store({card.id: measure_priors(backend, card.id, None, card.kind) for card in (EMBEDDED_CARD, *OWN_CARDS)})
