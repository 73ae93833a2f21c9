"""In which language a route answers: nobody's page is drawn there, so the address says it."""

from __future__ import annotations

from contextlib import AbstractContextManager

from starlette.requests import Request

from ui.state.language import ADDRESS
from wording import ENGLISH, language, speaking


def to_reader(request: Request) -> AbstractContextManager[None]:
    """Within it, what is said is in the language that the address names (`in_language`), else English."""
    return speaking(request.query_params.get(ADDRESS, ENGLISH))


def in_language() -> str:
    """What an address ends with, so that what is served there is told as here; nothing where that is English.

    >>> in_language()
    ''
    """
    return "" if language() == ENGLISH else f"&{ADDRESS}={language()}"
