"""From a model's name to a folder of checked files: an embedded model, a local folder, or a download in the cache."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from i18n import gettext_lazy
from inference.errors import UserError
from inference.files import embedded, extras, fine_tuned, folders, hub
from inference.files.allowed_models import check_listed
from inference.files.checkpoint import refuse_too_large
from inference.files.hub_names import check_id, check_revision
from inference.request import EMBEDDED
from inference.settings import Settings


@dataclass(frozen=True)
class ModelSource:
    """Where a model's files lie, its name, and the commit they are from, where they are from the hub."""

    name: str
    revision: str | None
    folder: Path


def find(name: str, revision: str | None, settings: Settings) -> ModelSource:
    """Where that model's files lie; raises Refusal.

    A name is a path only if it looks like one; any other is a hub id and never opens a folder of that name here. A
    hub model that is not downloaded yet is refused with ``way_out="download"`` and its offer, never fetched unasked.
    A hub model's source names the commit that its files are from, since branches move on.
    """
    if name == EMBEDDED:
        return ModelSource(name, None, embedded.folder())
    if name in embedded.OWN:
        return ModelSource(name, None, embedded.own_folder(name))
    if (extra := extras.find_extra(name)) is not None:
        return ModelSource(name, None, extra.folder(settings))
    if fine_tuned.is_taught(name):  # its name is its link, which is given to nobody unasked
        return ModelSource(fine_tuned.title(name, settings), None, fine_tuned.resolve(name, settings))
    if folders.is_path(name):
        folder = folders.resolve(name, settings.model_folders)
        return ModelSource(
            folders.title(folder), None, folder
        )  # a path says more about the machine than anyone needs to read
    check_id(name)
    check_revision(revision)
    check_listed(name, revision, settings)
    downloaded = hub.cached_folder(name, revision, settings)
    if downloaded is not None:
        return ModelSource(name, downloaded.name, downloaded)
    offer = hub.fetch_offer(name, revision, settings)
    refuse_too_large(name, offer.memory_bytes, settings.largest_model)
    raise UserError(
        gettext_lazy(
            "{name} is not on this machine yet. Downloading it takes {megabytes:,.0f} MB.",
            name=name,
            megabytes=offer.nbytes / 1e6,
        ),
        way_out="download",
        details={"model": name, "revision": revision, "bytes": offer.nbytes, "offer": offer},
    )


def is_local(name: str, revision: str | None, settings: Settings) -> bool:
    """Whether that model can be loaded without the network. Asks no network."""
    if (extra := extras.find_extra(name)) is not None:
        return extra.is_installed()
    try:
        if name in (EMBEDDED, *embedded.OWN) or fine_tuned.is_taught(name) or folders.is_path(name):
            find(name, revision, settings)
            return True
        check_listed(name, revision, settings)
        return hub.cached_folder(check_id(name), check_revision(revision), settings) is not None
    except UserError:
        return False
