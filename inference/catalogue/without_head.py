"""How it is refused that a model lacks a head: with the models that have one."""

from __future__ import annotations

from inference.catalogue.cards import EXTRA_CARDS
from inference.catalogue.listing import catalogue
from inference.errors import Refusal
from inference.files.unpacking import HOW
from inference.heads import CLASSES, WHAT
from inference.settings import Settings


def refusal(head: str, name: str, settings: Settings) -> Refusal:
    """The sentence about a model without a head, with the models that have one."""
    cards = [card for card in catalogue(settings) if head in card.heads]
    here = [card.title for card in cards if card.downloaded]
    there = [card.id for card in cards if not card.downloaded]
    ways = [f"On this machine {_listed(here)} would do."] if here else []
    ways += [f"On the hub {_listed(there[:4])} would do."] if there else []
    ways += (
        [f"Without the hub: {HOW}."] if any(head in card.heads and card not in cards for card in EXTRA_CARDS) else []
    )
    ways += ["The page Teach trains one."] if head in CLASSES else []
    sentence = " ".join([f"{name} has {WHAT[head]}.", *ways])
    return Refusal(sentence, way_out="head", details={"head": head, "models": [card.id for card in cards]})


def _listed(names: list[str]) -> str:
    """Names as a sentence lists them.

    >>> _listed(["a", "b", "c"])
    'a, b or c'
    """
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"
