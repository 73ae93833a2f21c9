"""How it is refused that a model lacks a head: with the models that have one."""

from __future__ import annotations

from i18n import format_or_list, gettext_lazy, join_sentences
from inference.catalogue.cards import EXTRA_CARDS
from inference.catalogue.listing import catalogue, list_vision_models
from inference.errors import UserError
from inference.files.unpacking import HOW
from inference.settings import Settings
from inference.task_heads import CLASSES, SEES, WHAT


def refusal(head: str, name: str, settings: Settings) -> UserError:
    """The sentence about a model without a head, with the models that have one."""
    listed = list_vision_models(settings) if head == SEES else catalogue(settings)
    cards = [card for card in listed if head in card.heads]
    here = [card.title for card in cards if card.downloaded]
    there = [card.id for card in cards if not card.downloaded]
    ways = [gettext_lazy("On this machine {here} would do.", here=format_or_list(here))] if here else []
    ways += [gettext_lazy("On the hub {there} would do.", there=format_or_list(there[:4]))] if there else []
    extra = any(head in card.heads and card not in cards for card in EXTRA_CARDS)
    ways += [gettext_lazy("Without the hub: {how}.", how=HOW)] if extra else []
    ways += [gettext_lazy("Fine-tuning a model adds this head.")] if head in CLASSES else []
    lacking = gettext_lazy("{name} has {no_head}.", name=name, no_head=WHAT[head])
    details = {"head": head, "models": [card.id for card in cards], "extra": extra}
    return UserError(join_sentences(lacking, *ways), way_out="head", details=details)
