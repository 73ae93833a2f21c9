"""What may be asked of the hub, and what its answers mean in words."""

from __future__ import annotations

import errno
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import TypeVar

from i18n import gettext_lazy
from inference.errors import UserError

Answer = TypeVar("Answer")
FULL = (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC))  # a disk, or what one may take of it


def check_id(name: str) -> str:
    """The id itself; raises Refusal for anything that cannot be one, before any file or network is touched."""
    from huggingface_hub.errors import HFValidationError
    from huggingface_hub.utils import validate_repo_id

    try:
        validate_repo_id(name)
    except HFValidationError as error:
        raise UserError(
            gettext_lazy(
                '"{name}" is not the name of a model. Names look like "google-bert/bert-base-uncased".',
                name=_printable_name(name),
            ),
            way_out="embedded",
        ) from error
    return name


def check_revision(revision: str | None) -> str | None:
    """The revision itself; raises Refusal for one that could lead out of the cache folder."""
    if revision is None:
        return None
    plain = revision.replace("/", "").replace("-", "").replace("_", "").replace(".", "").isalnum()
    if not plain or ".." in revision or revision.startswith("/") or len(revision) > 200 or not revision.isascii():
        raise UserError(
            gettext_lazy(
                '"{revision}" is not a revision. Use a branch, a tag or a commit.', revision=_printable_name(revision)
            ),
            way_out="embedded",
        )
    return revision


def _printable_name(name: str) -> str:
    """Part of a name, safe to print."""
    return "".join(character if character.isprintable() else "?" for character in name[:80])


@contextmanager
def convert_hub_errors(name: str) -> Iterator[None]:
    """Turns what the hub and the network answer into a Refusal."""
    import httpx2
    from huggingface_hub import errors

    unknown = gettext_lazy("The hub has no model called {name}, or it is private. Check the spelling.", name=name)
    try:
        yield
    except errors.GatedRepoError as error:
        raise UserError(
            gettext_lazy(
                "{name} is gated: its owner asks for consent first. Accept the terms on its page on the hub and set"
                " HF_TOKEN, or pick another model.",
                name=name,
            ),
            way_out="embedded",
        ) from error
    except errors.RevisionNotFoundError as error:
        raise UserError(
            gettext_lazy("{name} has no such revision. Use a branch, a tag or a commit.", name=name), way_out="embedded"
        ) from error
    except errors.RepositoryNotFoundError as error:
        raise UserError(unknown, way_out="embedded") from error
    except errors.OfflineModeIsEnabled as error:
        raise UserError(
            gettext_lazy(
                "{name} is not on this machine, and the hub is switched off here. Use a downloaded model.", name=name
            ),
            way_out="retry",
        ) from error
    except errors.HfHubHTTPError as error:
        status = error.response.status_code if error.response is not None else gettext_lazy("no answer")
        if status in (401, 404):
            raise UserError(unknown, way_out="embedded") from error
        raise UserError(
            gettext_lazy("The hub answers with an error ({status}). Try again later.", status=status), way_out="retry"
        ) from error
    except (httpx2.HTTPError, OSError) as error:
        if getattr(error, "errno", None) in FULL:
            raise UserError(
                gettext_lazy("The disk is full: {name} does not fit. Free some space and start it again.", name=name),
                way_out="retry",
            ) from error
        raise UserError(
            gettext_lazy("The hub cannot be reached. Check the network, or use a model that is installed."),
            way_out="retry",
        ) from error


def run_with_timeout(seconds: float, ask: Callable[[], Answer]) -> Answer:
    """What ``ask`` returns or raises; TimeoutError when that takes longer. A late answer is dropped."""
    future: Future[Answer] = Future()

    def run() -> None:
        try:
            future.set_result(ask())
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=run, name="hub", daemon=True).start()
    return future.result(seconds)
