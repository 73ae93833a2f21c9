"""The fine-tuning jobs and fine-tuned models that a visitor may see: their own, and those in a link."""

from __future__ import annotations

import hashlib
import secrets
import threading
from dataclasses import replace
from functools import cache, lru_cache
from pathlib import Path

import streamlit as st

from i18n import _, translate
from inference import UserError
from inference.catalogue.listing import ModelCard, local_card
from inference.files import sources
from inference.settings import Settings
from probing.labelled.ready_sets import CARDS
from training.jobs.job import JobStatus, Training
from training.jobs.queue import TrainingQueue
from ui.run.services import get_backend
from ui.server.middleware import NAME, VALUE
from ui.state.view_state import DEFAULT_MODEL

NOBODY = "visitor"  # Session key of a substitute for the cookie, for browsers without cookies and for tests.
_MAKING = threading.Lock()


def queue() -> TrainingQueue:
    """Return the training queue shared by all sessions of this process."""
    with _MAKING:  # Two queues would not share their threads.
        return _queue(get_backend().settings)


@cache
def _queue(settings: Settings) -> TrainingQueue:
    return TrainingQueue(sources.fine_tuned_root(settings), settings.taught_bytes, settings)


def visitor() -> str:
    """Return the visitor's id, a hash of the cookie; it marks the visitor's fine-tuning jobs."""
    cookie = str(st.context.cookies.get(NAME, ""))
    if not VALUE.fullmatch(cookie):
        cookie = st.session_state.setdefault(NOBODY, secrets.token_urlsafe(16))
    return hash_cookie(cookie)


def hash_cookie(cookie: str) -> str:
    """Return a hash to store in place of a cookie; the cookie cannot be recovered from the hash."""
    return hashlib.sha256(cookie.encode()).hexdigest()[:32]


def cards(*picked: str) -> list[ModelCard]:
    """Return the cards of the models to choose from: the app's, then this visitor's fine-tuned models.

    The default model comes first. Fine-tuned models of others are included if ``picked`` names them.
    """
    mine = {look.job.name: look for look in queue().jobs_of(visitor()) if look.has_model}
    for name in picked:
        if sources.is_taught(name) and name not in mine:
            try:
                mine[name] = queue().look(name.removeprefix(sources.PREFIX))
            except UserError:
                continue  # The model was deleted; the page that opens it shows an error.
    listed = sorted(get_backend().models(), key=lambda card: card.id != DEFAULT_MODEL)
    return [*listed, *(card for look in mine.values() if (card := _card_of(look)) is not None)]


def _card_of(look: JobStatus) -> ModelCard | None:
    try:
        changed = (look.model / sources.SCORES).stat().st_mtime_ns
        plain = _card(look.model, changed)
    except (UserError, OSError):
        return None  # The folder has no saved model yet.
    begun, name = look.job.begun[:10], look.job.model.rsplit("/", 1)[-1]
    model = _("another such model") if sources.is_taught(look.job.model) else name
    said = _("Taught here on {begun}, from {model}.", begun=begun, model=model)
    return replace(plain, id=look.job.name, title=training_title(look.job), summary=said)


def training_title(job: Training) -> str:
    """Return the title of a fine-tuning job in the visitor's language; it begins with the name of the data set."""
    named = next((card.title for card in CARDS if card.id == job.data), "")
    return translate(named) + job.title.removeprefix(named) if job.title.startswith(named) else job.title


@lru_cache(maxsize=256)
def _card(folder: Path, _changed: int) -> ModelCard:
    return local_card(folder)
