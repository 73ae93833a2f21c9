"""In which language a route answers: nobody's page is drawn there, so the address says it."""

from __future__ import annotations

from contextlib import AbstractContextManager

from starlette.requests import Request

from i18n import ENGLISH, active_language, use_language
from ui.state.language import ADDRESS


def use_request_language(request: Request) -> AbstractContextManager[None]:
    """Within it, what is said is in the language that the address names (`in_language`), else English."""
    return use_language(request.query_params.get(ADDRESS, ENGLISH))


def in_language() -> str:
    """What an address ends with, so that what is served there is told as here; nothing where that is English.

    >>> in_language()
    ''
    """
    return "" if active_language() == ENGLISH else f"&{ADDRESS}={active_language()}"
