"""The Hugging Face hub before a download: what a model is, how much would be fetched, and whether it would fit.

Files land in huggingface_hub's own cache, so that other programs share them. transformers itself never asks the hub:
it is only ever given folders.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from i18n import gettext_lazy
from inference.errors import UserError
from inference.files import architecture, checkpoint
from inference.files.allowed_models import check_listed
from inference.files.hub_files import RemoteFile, fetch_small, required_files
from inference.files.hub_names import check_id, check_revision, convert_hub_errors, run_with_timeout
from inference.settings import Settings

_TYPE_BYTES = {"float16": 2, "bfloat16": 2, "float32": 4, "float64": 8}


@dataclass(frozen=True)
class Offer:
    """What fetching a model would mean. ``commit`` pins it; ``folder`` is where it lies once downloaded."""

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
        """Bytes of all files together."""
        return sum(file.nbytes for file in self.files)


def reference_file(name: str, revision: str | None, settings: Settings) -> Path:
    """The file in the cache that says which commit a branch or tag means; a download writes it last."""
    from huggingface_hub import constants
    from huggingface_hub.file_download import repo_folder_name

    root = (settings.cache or Path(constants.HF_HUB_CACHE)) / repo_folder_name(repo_id=name, repo_type="model")
    return root / "refs" / (revision or "main")


def cached_folder(name: str, revision: str | None, settings: Settings) -> Path | None:
    """Folder of a model that is already downloaded, whole; None otherwise. Asks no network.

    Its name is the commit.
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
    """What the hub has under that name. Three short questions at most; raises Refusal when they cannot be answered.

    Refused: unknown and private names, gated models, no network, weights that are only pickles, architectures that
    cannot be traced. A model that is too large is offered with ``fits`` False. What is downloaded needs no network.
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
            gettext_lazy(
                "{name} is not on this machine, and the hub is switched off here. Use a downloaded model.", name=name
            ),
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
        return run_with_timeout(2 * seconds, ask)  # looking a name up has no timeout of its own
    except HfHubHTTPError:
        raise
    except (ValueError, LookupError, TypeError) as error:  # not JSON, or JSON of something else
        raise UserError(
            gettext_lazy("The hub's answer cannot be understood. Try again later."), way_out="retry"
        ) from error


def _parameters(info: Any, config: dict[str, Any], files: tuple[RemoteFile, ...]) -> int:
    """Number of parameters, as the hub counted them or by the size of the weights."""
    counted = getattr(getattr(info, "safetensors", None), "total", None)
    if counted:
        return int(counted)
    weights = sum(file.nbytes for file in files if file.name.endswith(".safetensors"))
    stored = str(config.get("dtype") or config.get("torch_dtype") or "float32").removeprefix("torch.")
    return weights // _TYPE_BYTES.get(stored, 4) or 2 * sum(file.nbytes for file in files)
