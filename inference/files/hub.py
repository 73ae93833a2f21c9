"""Names, files and sizes of models on the Hugging Face hub, before a download."""

from __future__ import annotations

import errno
import re
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from i18n import gettext_lazy
from inference.errors import UserError
from inference.files import architecture, checkpoint
from inference.hub_cards import HUB_CARDS, PICTURE_CARDS
from inference.pictures.image_processing import PROCESSORS
from inference.settings import Settings

Answer = TypeVar("Answer")
FULL = (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC))  # a full disk, or an exhausted quota


def check_id(name: str) -> str:
    """Return the hub id ``name`` unchanged; raise UserError if it is not a valid id.

    The check reads no files and does not use the network.
    """
    from huggingface_hub.errors import HFValidationError
    from huggingface_hub.utils import validate_repo_id

    try:
        validate_repo_id(name)
    except HFValidationError as error:
        raise UserError(
            gettext_lazy(
                '"{name}" is not a model\'s name, such as "google-bert/bert-base-uncased".',
                name=_printable_name(name),
            ),
            way_out="embedded",
        ) from error
    return name


def check_revision(revision: str | None) -> str | None:
    """Return ``revision`` unchanged; raise UserError if it could be a path outside of the cache folder."""
    if revision is None:
        return None
    plain = revision.replace("/", "").replace("-", "").replace("_", "").replace(".", "").isalnum()
    if not plain or ".." in revision or revision.startswith("/") or len(revision) > 200 or not revision.isascii():
        raise UserError(
            gettext_lazy(
                '"{revision}" is not a revision. Use a branch, tag or commit.', revision=_printable_name(revision)
            ),
            way_out="embedded",
        )
    return revision


def _printable_name(name: str) -> str:
    """Return the first 80 characters of a name, with unprintable characters replaced."""
    return "".join(character if character.isprintable() else "?" for character in name[:80])


@contextmanager
def convert_hub_errors(name: str) -> Iterator[None]:
    """Inside the block, convert exceptions of the hub and the network to UserError."""
    import httpx2
    from huggingface_hub import errors

    unknown = gettext_lazy("The hub has no public model called {name}. Check the spelling.", name=name)
    try:
        yield
    except errors.GatedRepoError as error:
        raise UserError(
            gettext_lazy(
                "{name} is gated. Accept its terms on the hub and set HF_TOKEN, or pick another model.",
                name=name,
            ),
            way_out="embedded",
        ) from error
    except errors.RevisionNotFoundError as error:
        raise UserError(
            gettext_lazy("{name} has no such revision. Use a branch, tag or commit.", name=name), way_out="embedded"
        ) from error
    except errors.RepositoryNotFoundError as error:
        raise UserError(unknown, way_out="embedded") from error
    except errors.OfflineModeIsEnabled as error:
        raise UserError(
            gettext_lazy("{name} is not on this machine, and the hub is off. Use a downloaded model.", name=name),
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
                gettext_lazy("The disk is full: {name} does not fit. Free some space.", name=name),
                way_out="retry",
            ) from error
        raise UserError(
            gettext_lazy("The hub cannot be reached. Check the network, or use an installed model."),
            way_out="retry",
        ) from error


def run_with_timeout(seconds: float, ask: Callable[[], Answer]) -> Answer:
    """Run ``ask`` in a thread and return its result; raise TimeoutError after ``seconds``.

    A result that arrives later is dropped.
    """
    future: Future[Answer] = Future()

    def run() -> None:
        try:
            future.set_result(ask())
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=run, name="hub", daemon=True).start()
    return future.result(seconds)


_ROBOT, _CONVERSION = "SFconvertbot", "Adding `safetensors` variant of this model"
_SMALL = 50_000_000  # tokenizer files are smaller than this


@dataclass(frozen=True)
class RemoteFile:
    """A file of a hub model to download.

    ``digest`` is its SHA-256 (large files) or its git hash; None if the hub states neither.
    """

    name: str
    nbytes: int
    digest: str | None = None


def required_files(name: str, info: Any, settings: Settings) -> tuple[RemoteFile, ...]:
    """Return the files of a hub model to download: small files, then the weights.

    ``info`` is the hub's description of the model, with its list of files. Raise UserError if weights are missing or
    unsafe.
    """
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
                "{name} is incomplete: the hub lacks its weight file {missing}.", name=name, missing=missing[0]
            ),
            way_out="embedded",
        )
    _refuse_weights(name, listed, weights, settings)
    return tuple(RemoteFile(file, listed[file].size or 0, _digest(listed[file])) for file in sorted(names) + weights)


def _refuse_weights(name: str, listed: Any, weights: list[str], settings: Settings) -> None:
    if not weights:
        if any(file.endswith(checkpoint.PICKLES) for file in listed):
            raise _pickle_only(name, settings)
        raise UserError(gettext_lazy("{name} has no safetensors weights on the hub.", name=name), way_out="embedded")
    if weights[0].endswith(".gguf"):
        if not checkpoint.can_read_gguf():
            raise UserError(checkpoint.no_gguf(name), way_out="embedded")
    elif not any(file in listed for file in (*checkpoint.TOKENIZERS, *PROCESSORS)):
        raise UserError(
            gettext_lazy("{name} has no tokenizer. Pick another model.", name=name),
            way_out="embedded",
        )


def _pickle_only(name: str, settings: Settings) -> UserError:
    """Return the error for pickled weights, with the hub's safetensors revision if it exists.

    The hub's bot offers the conversion as a pull request, which owners of old models rarely merge.
    """
    from httpx2 import HTTPError
    from huggingface_hub import HfApi

    api = HfApi(endpoint=settings.endpoint)
    ask = partial(api.get_repo_discussions, name, author=_ROBOT, discussion_type="pull_request")
    try:
        found = [d for d in run_with_timeout(settings.hub_timeout, lambda: list(ask())) if d.title == _CONVERSION]
    except (OSError, ValueError, LookupError, TypeError, HTTPError):
        found = []  # without an answer the error offers no conversion
    revisions = [d.git_reference for d in found if d.author == _ROBOT and d.status != "closed" and d.git_reference]
    if not revisions:
        return UserError(checkpoint.pickle_only(name), way_out="embedded")
    revision = revisions[0].removeprefix("refs/heads/")
    return UserError(
        gettext_lazy(
            "{name} has only pickle weights, which can run code. Use revision {revision} (safetensors).",
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
    return stated if stated and re.fullmatch(r"[0-9a-f]{40}|[0-9a-f]{64}", stated) else None  # as a file name


def fetch_small(name: str, commit: str, file: str, settings: Settings, most: int) -> bytes | None:
    """Return the bytes of a small file of a hub model, or None if the file does not exist.

    All HTTP errors but 404 propagate, so that the call also checks the access to a gated model. Raise UserError for a
    file of more than ``most`` bytes.
    """
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
                    gettext_lazy("The {file} of {name} is too long. Pick another model.", name=name, file=file),
                    way_out="embedded",
                )
    return content


LISTED = frozenset(card.id for card in (*HUB_CARDS, *PICTURE_CARDS))


def check_listed(name: str, revision: str | None, settings: Settings) -> None:
    """Raise UserError if the settings do not allow this hub model; no file or network is used.

    The settings may allow listed models only (``only_listed``). Listed models are opened only at their main branch,
    because anybody can propose other branches and commits.

    >>> check_listed("openai-community/gpt2", None, Settings(only_listed=True))
    >>> check_listed("somebody/something", None, Settings(only_listed=True))
    Traceback (most recent call last):
    inference.errors.UserError: Only listed models open here, at their main revision. Pick one.
    """
    if settings.only_listed and (name not in LISTED or revision not in (None, "", "main")):
        raise UserError(
            gettext_lazy("Only listed models open here, at their main revision. Pick one."),
            way_out="embedded",
        )


_TYPE_BYTES = {"float16": 2, "bfloat16": 2, "float32": 4, "float64": 8}


@dataclass(frozen=True)
class Offer:
    """A hub model that can be downloaded: its files, architecture and memory need.

    ``commit`` pins the version of the files. ``folder`` is the folder of the downloaded files, or None. ``fits`` is
    False if the model needs more memory than the settings allow.
    """

    id: str
    revision: str | None
    commit: str
    architecture: str
    kind: str
    task: str | None
    files: tuple[RemoteFile, ...]
    memory_bytes: int
    fits: bool
    downloaded: bool
    folder: Path | None = None

    @property
    def nbytes(self) -> int:
        """Return the total bytes of all files."""
        return sum(file.nbytes for file in self.files)


def reference_file(name: str, revision: str | None, settings: Settings) -> Path:
    """Return the path of the cache file that contains the commit of a branch or tag.

    If ``revision`` is None, it is the file of the branch main. A download writes this file last.
    """
    from huggingface_hub import constants
    from huggingface_hub.file_download import repo_folder_name

    root = (settings.cache or Path(constants.HF_HUB_CACHE)) / repo_folder_name(repo_id=name, repo_type="model")
    return root / "refs" / (revision or "main")


def cached_folder(name: str, revision: str | None, settings: Settings) -> Path | None:
    """Return the folder of a completely downloaded model, or None; the network is not used.

    The name of the folder is the commit.
    """
    root = reference_file(name, None, settings).parent.parent
    reference = root / "refs" / (revision or "main")
    try:
        commit = reference.read_text().strip() if reference.is_file() else revision
    except OSError:
        return None
    folder = root / "snapshots" / (commit or "")
    if not commit or Path(commit).name != commit or not folder.is_dir():
        return None
    try:
        checkpoint.inspect(folder, name)
    except (UserError, OSError):
        return None
    return folder


def fetch_offer(name: str, revision: str | None, settings: Settings) -> Offer:
    """Look up a hub model with a few short requests; return it as an offer.

    Raise UserError for unknown and private names, gated models, weights only in pickle files, and architectures that
    cannot be traced. Without a network, raise it for all models that are not downloaded. A model that is too large is
    offered with ``fits`` False.
    """
    check_id(name)
    check_revision(revision)
    check_listed(name, revision, settings)
    if settings.offline:
        return _local_offer(name, revision, settings)
    try:
        with convert_hub_errors(name):
            info = _info(name, revision, settings)
            config = fetch_small(name, info.sha, "config.json", settings, 8_000_000)
            return _offer(name, revision, info, config, settings)
    except UserError as refusal:
        if refusal.way_out != "retry" or cached_folder(name, revision, settings) is None:
            raise
        return _local_offer(name, revision, settings)


def _offer(name: str, revision: str | None, info: Any, config: bytes | None, settings: Settings) -> Offer:
    files = required_files(name, info, settings)
    gguf = any(file.name.endswith(".gguf") for file in files)
    parsed = {} if config is None else checkpoint.parse_config(config, name)
    if config is None and not gguf:
        raise UserError(
            gettext_lazy("{name} is not a model: it has no config.json. Pick another model.", name=name),
            way_out="embedded",
        )
    kind, class_name = "decoder", "GGUF"
    if not gguf:
        checkpoint.refuse_quantized(parsed, name)
        shape = architecture.read(parsed, name)
        kind, class_name = shape.kind, shape.name
    memory = checkpoint.memory_needed(_parameters(info, parsed, files))
    folder = cached_folder(name, revision, settings)
    here = folder is not None and folder.name == info.sha and all((folder / file.name).exists() for file in files)
    return Offer(
        id=name,
        revision=revision,
        commit=info.sha,
        architecture=class_name,
        kind=kind,
        task=info.pipeline_tag,
        files=files,
        memory_bytes=memory,
        fits=memory <= settings.largest_model,
        downloaded=here,
        folder=folder if here else None,
    )


def _local_offer(name: str, revision: str | None, settings: Settings) -> Offer:
    folder = cached_folder(name, revision, settings)
    if folder is None:
        raise UserError(
            gettext_lazy("{name} is not on this machine, and the hub is off. Use a downloaded model.", name=name),
            way_out="embedded",
        )
    files = checkpoint.inspect(folder, name)
    shape = architecture.read(files.config, name) if files.config else None
    return Offer(
        id=name,
        revision=revision,
        commit=folder.name,
        architecture=shape.name if shape else "GGUF",
        kind=shape.kind if shape else "decoder",
        task=None,
        files=tuple(RemoteFile(file.name, file.stat().st_size) for file in sorted(folder.iterdir()) if file.is_file()),
        memory_bytes=files.memory_bytes,
        fits=files.memory_bytes <= settings.largest_model,
        downloaded=True,
        folder=folder,
    )


def _info(name: str, revision: str | None, settings: Settings) -> Any:
    from huggingface_hub import HfApi
    from huggingface_hub.errors import HfHubHTTPError

    api = HfApi(endpoint=settings.endpoint)
    try:
        seconds = settings.hub_timeout
        ask = partial(api.model_info, name, revision=revision, files_metadata=True, timeout=seconds)
        return run_with_timeout(2 * seconds, ask)  # resolving the host name has no timeout
    except HfHubHTTPError:
        raise
    except (ValueError, LookupError, TypeError) as error:  # the answer is not JSON, or has an unexpected structure
        status = type(error).__name__
        raise UserError(
            gettext_lazy("The hub answers with an error ({status}). Try again later.", status=status), way_out="retry"
        ) from error


def _parameters(info: Any, config: dict[str, Any], files: tuple[RemoteFile, ...]) -> int:
    """Return the number of parameters, as counted by the hub or estimated from the size of the weights."""
    counted = getattr(getattr(info, "safetensors", None), "total", None)
    if counted:
        return int(counted)
    weights = sum(file.nbytes for file in files if file.name.endswith(".safetensors"))
    stored = str(config.get("dtype") or config.get("torch_dtype") or "float32").removeprefix("torch.")
    return weights // _TYPE_BYTES.get(stored, 4) or 2 * sum(file.nbytes for file in files)
