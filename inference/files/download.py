"""Downloads of models in a thread, with progress; they can be stopped and resumed without losing data.

huggingface_hub 2.4 cannot resume a download, because each attempt writes to a new temporary file. This module therefore
fetches the bytes itself, with a Range request from the end of the last attempt. It stores them as the blob that
huggingface_hub looks for first in its cache, and huggingface_hub then links the file as usual.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import threading
from pathlib import Path
from typing import Any, NamedTuple

from i18n import gettext_lazy
from inference.errors import UserError
from inference.files.hub import Offer, RemoteFile, convert_hub_errors
from inference.settings import Settings

_CHUNK = 256 * 1024
_TRIES = 3  # attempts without any progress before the download fails
_SILENCE = 10.0  # the shortest timeout, in seconds without data, before the next attempt


class DownloadProgress(NamedTuple):
    """The number of bytes of a download that have arrived (``done``), and the total number."""

    done: int
    total: int

    @property
    def share(self) -> float:
        """Return the fraction of the bytes that has arrived, from 0 to 1."""
        return min(1.0, self.done / self.total) if self.total else 1.0


class _DownloadCancelled(Exception):
    """Raised if the user stopped the download."""


class Download:
    """A download of the files of a hub model, which runs in a thread.

    After ``stop``, a failure or a restart of the app, ``start`` resumes the download. ``state`` is "new", "running",
    "stopped", "failed" (see ``error``) or "done".
    """

    def __init__(self, offer: Offer, settings: Settings) -> None:
        from huggingface_hub import constants
        from huggingface_hub.file_download import repo_folder_name

        self.offer = offer
        self.error: UserError | None = None
        self.state = "done" if offer.downloaded else "new"
        self._settings = settings
        self._cache = Path(settings.cache or constants.HF_HUB_CACHE)
        self._root = self._cache / repo_folder_name(repo_id=offer.id, repo_type="model")
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._arrived: dict[str, int] = {}

    @property
    def progress(self) -> DownloadProgress:
        """Return the progress, including bytes from earlier attempts."""
        done = self.offer.nbytes if self.state == "done" else sum(self._arrived.copy().values())
        return DownloadProgress(done, self.offer.nbytes)

    @property
    def done(self) -> bool:
        """Return True if every file is complete."""
        return self.state == "done"

    def start(self) -> Download:
        """Start or resume the download in a thread, unless it runs or is done; return this object."""
        with self._lock:
            if self._thread is not None and self._stop.is_set():
                self._thread.join()  # the old thread was cancelled and ends soon
            if self.state in ("running", "done"):
                return self
            self._stop.clear()
            self.error, self.state = None, "running"
            self._thread = threading.Thread(target=self._run, name=f"download {self.offer.id}", daemon=True)
            self._thread.start()
        return self

    def stop(self) -> None:
        """Stop the download after the current chunk; the bytes that have arrived are kept."""
        self._stop.set()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for the download to end, at most ``timeout`` seconds; return True if it is done.

        Raise its UserError if the download failed.
        """
        if self._thread is not None:
            self._thread.join(timeout)
        if self.error is not None:
            raise self.error.copy()
        return self.done

    def _run(self) -> None:
        try:
            with convert_hub_errors(self.offer.id):
                self._arrived = {file.name: self._partial(file) for file in self.offer.files}
                self._refuse_full_disk()
                for file in self.offer.files:
                    self.fetch(file)
                self._name_revision()
            self.state = "done"
        except _DownloadCancelled:
            self.state = "stopped"
        except UserError as refusal:
            self.error, self.state = refusal, "failed"
        except BaseException:
            self.error = UserError(
                gettext_lazy("The download of {id} failed. Start it again.", id=self.offer.id), way_out="retry"
            )
            self.state = "failed"
            raise

    def _refuse_full_disk(self) -> None:
        self._root.mkdir(parents=True, exist_ok=True)
        free = shutil.disk_usage(self._root).free
        missing = self.offer.nbytes - self.progress.done
        if missing > free:
            raise UserError(
                gettext_lazy(
                    "The disk has {free:.1f} GB left; {id} needs {missing:.1f} GB. Free some space or pick"
                    " a smaller model.",
                    free=free / 1e9,
                    id=self.offer.id,
                    missing=missing / 1e9,
                ),
                way_out="embedded",
            )

    def fetch(self, file: RemoteFile) -> None:
        """Download the rest of a file into the cache."""
        from huggingface_hub import hf_hub_download

        self._check_stop()
        if file.digest is not None and not self._blob(file).exists():
            self._fetch_blob(file)
        hf_hub_download(
            self.offer.id,
            file.name,
            revision=self.offer.commit,
            cache_dir=self._cache,
            endpoint=self._settings.endpoint,
            etag_timeout=self._settings.hub_timeout,
            tqdm_class=_silent_bar(),
        )
        self._arrived[file.name] = file.nbytes

    def _fetch_blob(self, file: RemoteFile) -> None:
        """Fetch a file into the blob of its digest, with as many requests as necessary."""
        import httpx2
        from huggingface_hub.utils import WeakFileLock

        lock = self._cache / ".locks" / self._root.name / f"{file.digest}.lock"
        for folder in (lock.parent, self._blob(file).parent):
            folder.mkdir(parents=True, exist_ok=True)
        with WeakFileLock(lock):
            if self._blob(file).exists():
                return  # another process that shares the cache has fetched it meanwhile
            failures = 0
            while self._partial(file) < file.nbytes:
                before = self._partial(file)
                try:
                    self._stream(file, before)
                    self._check_stop()
                    if self._partial(file) < file.nbytes:  # some servers end a response early without an error
                        raise httpx2.RemoteProtocolError("The answer ended early.")
                except httpx2.TransportError:
                    failures = 0 if self._partial(file) > before else failures + 1
                    if failures >= _TRIES:
                        raise
                    if self._stop.wait(0.5):
                        raise _DownloadCancelled from None
            self._seal(file)

    def _stream(self, file: RemoteFile, start: int) -> None:
        from huggingface_hub import hf_hub_url
        from huggingface_hub.utils import build_hf_headers, get_session, hf_raise_for_status

        url = hf_hub_url(self.offer.id, file.name, revision=self.offer.commit, endpoint=self._settings.endpoint)
        headers = {**build_hf_headers(), "Accept-Encoding": "identity"}
        if start:
            headers["Range"] = f"bytes={start}-"
        timeout = max(_SILENCE, self._settings.hub_timeout)
        with get_session().stream("GET", url, headers=headers, timeout=timeout) as answer:
            hf_raise_for_status(answer)
            resumed = answer.status_code == 206
            with self.partial_path(file).open("ab" if resumed else "wb", buffering=0) as stream:
                for chunk in answer.iter_bytes(_CHUNK):
                    stream.write(chunk)
                    self._arrived[file.name] = stream.tell()
                    self._check_stop()
                    if stream.tell() > file.nbytes:
                        break  # too many bytes arrived, so the digest check will fail

    def _seal(self, file: RemoteFile) -> None:
        """Move a complete file to its place; delete it and raise UserError if its digest is wrong."""
        partial = self.partial_path(file)
        if partial.stat().st_size != file.nbytes or digest(partial, len(file.digest or "")) != file.digest:
            partial.unlink()
            self._arrived.pop(file.name, None)
            raise UserError(
                gettext_lazy("{name} of {id} arrived damaged. Start again.", name=file.name, id=self.offer.id),
                way_out="retry",
            )
        os.replace(partial, self._blob(file))

    def _name_revision(self) -> None:
        """Record the commit of the branch or tag.

        This is the last step, so that only complete models count as downloaded.
        """
        revision = self.offer.revision or "main"
        if revision == self.offer.commit:
            return
        reference = self._root / "refs" / revision
        reference.parent.mkdir(parents=True, exist_ok=True)
        temporary = reference.with_name(f"{reference.name}.{os.getpid()}.tmp")
        temporary.write_text(self.offer.commit)
        os.replace(temporary, reference)

    def _blob(self, file: RemoteFile) -> Path:
        return self._root / "blobs" / str(file.digest)

    def partial_path(self, file: RemoteFile) -> Path:
        """Return the path at which a file is stored while its download is unfinished."""
        return self._root / "blobs" / f"{file.digest}.headlight.incomplete"

    def _partial(self, file: RemoteFile) -> int:
        """Return the bytes of a file that have arrived."""
        for path in (self._blob(file), self.partial_path(file)):
            with contextlib.suppress(OSError):
                return path.stat().st_size
        return 0

    def _check_stop(self) -> None:
        if self._stop.is_set():
            raise _DownloadCancelled


def digest(file: Path, length: int) -> str:
    """Return the hash of a file as hexadecimal digits.

    It is the SHA-256 if ``length`` is 64, and git's blob hash (SHA-1) if it is 40.
    """
    hasher = hashlib.sha256() if length == 64 else hashlib.sha1(f"blob {file.stat().st_size}\0".encode())
    with file.open("rb") as stream:
        while chunk := stream.read(2**20):
            hasher.update(chunk)
    return hasher.hexdigest()


def _silent_bar() -> type:
    """Return a progress bar class that draws nothing, because the app shows its own progress."""
    from tqdm import tqdm

    class Quiet(tqdm):  # type: ignore[type-arg]  # generic only in its stubs
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            kwargs.pop("name", None)
            super().__init__(*args, **{**kwargs, "disable": True})

    return Quiet
