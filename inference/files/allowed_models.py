"""Which models of the hub anybody may open where the operator allows those of the list alone."""

from __future__ import annotations

from i18n import gettext_lazy
from inference.errors import UserError
from inference.hub_cards import HUB_CARDS, PICTURE_CARDS
from inference.settings import Settings

LISTED = frozenset(card.id for card in (*HUB_CARDS, *PICTURE_CARDS))


def check_listed(name: str, revision: str | None, settings: Settings) -> None:
    """Raises Refusal for a model of the hub that this app may not open, before any file or network is touched.

    Those of the list are opened as their owners publish them: a branch or a commit may be anybody's proposal.

    >>> check_listed("openai-community/gpt2", None, Settings(only_listed=True))
    >>> check_listed("somebody/something", None, Settings(only_listed=True))
    Traceback (most recent call last):
    inference.errors.UserError: Only listed models can be opened here, as they are published. Use a listed model.
    """
    if settings.only_listed and (name not in LISTED or revision not in (None, "", "main")):
        raise UserError(
            gettext_lazy("Only listed models can be opened here, as they are published. Use a listed model."),
            way_out="embedded",
        )
