"""Which files of a model on the hub are fetched: configuration, tokenizer and safe weights, never a program."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial
from typing import Any

from i18n import gettext_lazy
from inference.errors import UserError
from inference.files import checkpoint
from inference.files.hub_names import run_with_timeout
from inference.pictures.vision_families import PROCESSORS
from inference.settings import Settings

_ROBOT, _CONVERSION = "SFconvertbot", "Adding `safetensors` variant of this model"
_SMALL = 50_000_000  # no tokenizer file is larger


@dataclass(frozen=True)
class RemoteFile:
    """One file to fetch. ``digest`` is its SHA-256 (large files) or its git hash, None where the hub tells neither."""

    name: str
    nbytes: int
    digest: str | None = None


def required_files(name: str, info: Any, settings: Settings) -> tuple[RemoteFile, ...]:
    """The files that loading takes, small ones first; raises Refusal where the weights are missing or unsafe."""
    listed = {entry.rfilename: entry for entry in info.siblings or []}
    names = [file for file in listed if "/" not in file and _is_small_file(file, listed[file].size or 0)]
    if checkpoint.WEIGHTS in listed:
        weights = [checkpoint.WEIGHTS]
    elif checkpoint.INDEX in listed:
        index = fetch_small(name, info.sha, checkpoint.INDEX, settings, _SMALL) or b""
        weights = [checkpoint.INDEX, *checkpoint.shards(index, name)]
    else:
        weights = sorted((f for f in listed if f.endswith(".gguf")), key=lambda f: listed[f].size or 0)[:1]
    missing = [file for file in weights if file not in listed]
    if missing:
        raise UserError(
            gettext_lazy(
                "{name} is incomplete on the hub: its weight file {missing} is missing.", name=name, missing=missing[0]
            ),
            way_out="embedded",
        )
    _refuse_weights(name, listed, weights, settings)
    return tuple(RemoteFile(file, listed[file].size or 0, _digest(listed[file])) for file in sorted(names) + weights)


def _refuse_weights(name: str, listed: Any, weights: list[str], settings: Settings) -> None:
    if not weights:
        if any(file.endswith(checkpoint.PICKLES) for file in listed):
            raise _pickle_only(name, settings)
        raise UserError(
            gettext_lazy("{name} has no weights in the safetensors format on the hub.", name=name), way_out="embedded"
        )
    if weights[0].endswith(".gguf"):
        if not checkpoint.can_read_gguf():
            raise UserError(checkpoint.no_gguf(name), way_out="embedded")
    elif not any(file in listed for file in (*checkpoint.TOKENIZERS, *PROCESSORS)):
        raise UserError(
            gettext_lazy("{name} comes without a tokenizer, so no text can be read with it.", name=name),
            way_out="embedded",
        )


def _pickle_only(name: str, settings: Settings) -> UserError:
    """The refusal of pickles, with the revision that holds the hub's own conversion to safetensors, where it made one.

    The hub's robot offers it as a pull request, which old models' owners rarely merge.
    """
    from httpx2 import HTTPError
    from huggingface_hub import HfApi

    api = HfApi(endpoint=settings.endpoint)
    ask = partial(api.get_repo_discussions, name, author=_ROBOT, discussion_type="pull_request")
    try:
        found = [d for d in run_with_timeout(settings.hub_timeout, lambda: list(ask())) if d.title == _CONVERSION]
    except (OSError, ValueError, LookupError, TypeError, HTTPError):
        found = []  # then there is one way out fewer
    revisions = [d.git_reference for d in found if d.author == _ROBOT and d.status != "closed" and d.git_reference]
    if not revisions:
        return UserError(checkpoint.pickle_only(name), way_out="embedded")
    revision = revisions[0].removeprefix("refs/heads/")
    return UserError(
        gettext_lazy(
            "{name} has its weights only in a pickle file, which can run hidden programs when it is opened. The hub"
            " keeps a safe copy under the revision {revision}: use that.",
            name=name,
            revision=revision,
        ),
        way_out="revision",
        details={"revision": revision},
    )


def _is_small_file(file: str, nbytes: int) -> bool:
    known = (*checkpoint.TOKENIZERS, "merges.txt", "target.spm", "config.json", "generation_config.json")
    extra = ("tokenizer_config.json", "special_tokens_map.json", "added_tokens.json", "target_vocab.json", *PROCESSORS)
    return nbytes <= _SMALL and file in (*known, *extra)


def _digest(entry: Any) -> str | None:
    large = getattr(entry, "lfs", None)
    stated = large.sha256 if large is not None else entry.blob_id
    return stated if stated and re.fullmatch(r"[0-9a-f]{40}|[0-9a-f]{64}", stated) else None  # it becomes a file name


def fetch_small(name: str, commit: str, file: str, settings: Settings, most: int) -> bytes | None:
    """A small file's bytes, None where there is none; also the question whether this app may read the files at all."""
    from huggingface_hub import hf_hub_url
    from huggingface_hub.utils import build_hf_headers, get_session, hf_raise_for_status

    url = hf_hub_url(name, file, revision=commit, endpoint=settings.endpoint)
    with get_session().stream("GET", url, headers=build_hf_headers(), timeout=settings.hub_timeout) as answer:
        if answer.status_code == 404:
            return None
        hf_raise_for_status(answer)
        content = b""
        for chunk in answer.iter_bytes():
            content += chunk
            if len(content) > most:
                raise UserError(
                    gettext_lazy(
                        "{name} is not a model: its {file} is far too long. Pick another model.", name=name, file=file
                    ),
                    way_out="embedded",
                )
    return content
