"""From a model's name to a folder of checked files: an embedded model, a local folder, or a download in the cache."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from inference.errors import Refusal
from inference.files import embedded, extras, folders, hub, taught
from inference.files.checkpoint import refuse_too_large
from inference.files.hub_names import check_id, check_revision
from inference.files.listed import check_listed
from inference.request import EMBEDDED
from inference.settings import Settings
from wording import sentence


@dataclass(frozen=True)
class Source:
    """Where a model's files lie, its name, and the commit they are from, where they are from the hub."""

    name: str
    revision: str | None
    folder: Path


def find(name: str, revision: str | None, settings: Settings) -> Source:
    """Where that model's files lie; raises Refusal.

    A name is a path only if it looks like one; any other is a hub id and never opens a folder of that name here. A
    hub model that is not downloaded yet is refused with ``way_out="download"`` and its offer, never fetched unasked.
    A hub model's source names the commit that its files are from, since branches move on.
    """
    if name == EMBEDDED:
        return Source(name, None, embedded.folder())
    if name in embedded.OWN:
        return Source(name, None, embedded.own_folder(name))
    if (extra := extras.named(name)) is not None:
        return Source(name, None, extra.folder(settings))
    if taught.is_taught(name):  # its name is its link, which is given to nobody unasked
        return Source(taught.title(name, settings), None, taught.resolve(name, settings))
    if folders.is_path(name):
        folder = folders.resolve(name, settings.model_folders)
        return Source(
            folders.title(folder), None, folder
        )  # a path says more about the machine than anyone needs to read
    check_id(name)
    check_revision(revision)
    check_listed(name, revision, settings)
    downloaded = hub.cached(name, revision, settings)
    if downloaded is not None:
        return Source(name, downloaded.name, downloaded)
    offer = hub.look(name, revision, settings)
    refuse_too_large(name, offer.memory_bytes, settings.largest_model)
    raise Refusal(
        sentence(
            "{name} is not on this machine yet. Downloading it takes {megabytes:,.0f} MB.",
            name=name,
            megabytes=offer.nbytes / 1e6,
        ),
        way_out="download",
        details={"model": name, "revision": revision, "bytes": offer.nbytes, "offer": offer},
    )


def here(name: str, revision: str | None, settings: Settings) -> bool:
    """Whether that model can be loaded without the network. Asks no network."""
    if (extra := extras.named(name)) is not None:
        return extra.here()
    try:
        if name in (EMBEDDED, *embedded.OWN) or taught.is_taught(name) or folders.is_path(name):
            find(name, revision, settings)
            return True
        check_listed(name, revision, settings)
        return hub.cached(check_id(name), check_revision(revision), settings) is not None
    except Refusal:
        return False
