"""How it is refused that a model lacks a head: with the models that have one."""

from __future__ import annotations

from inference.catalogue.cards import EXTRA_CARDS
from inference.catalogue.listing import catalogue, seeing
from inference.errors import Refusal
from inference.files.unpacking import HOW
from inference.heads import CLASSES, SEES, WHAT
from inference.settings import Settings
from wording import any_of, sentence, together


def refusal(head: str, name: str, settings: Settings) -> Refusal:
    """The sentence about a model without a head, with the models that have one."""
    listed = seeing(settings) if head == SEES else catalogue(settings)
    cards = [card for card in listed if head in card.heads]
    here = [card.title for card in cards if card.downloaded]
    there = [card.id for card in cards if not card.downloaded]
    ways = [sentence("On this machine {here} would do.", here=any_of(here))] if here else []
    ways += [sentence("On the hub {there} would do.", there=any_of(there[:4]))] if there else []
    extra = any(head in card.heads and card not in cards for card in EXTRA_CARDS)
    ways += [sentence("Without the hub: {how}.", how=HOW)] if extra else []
    ways += [sentence("Fine-tuning a model adds this head.")] if head in CLASSES else []
    lacking = sentence("{name} has {no_head}.", name=name, no_head=WHAT[head])
    details = {"head": head, "models": [card.id for card in cards], "extra": extra}
    return Refusal(together(lacking, *ways), way_out="head", details=details)
