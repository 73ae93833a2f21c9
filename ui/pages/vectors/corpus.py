"""Vectors of many sentences: computed in parts into a file, and served as .npy, Parquet and CSV."""

from __future__ import annotations

import csv
import io
import re
import secrets
import shutil
import tempfile
import threading
import time
import weakref
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from attention.mask import FloatArray
from attention.spreadsheet import MARK, file_stem, meta_json, safe_cell, zip_member
from i18n import gettext_lazy, translate
from inference import UserError
from inference.cancellation import Cancelled, CancelToken, use_token
from inference.tasks.hidden_states import Pooled, TextVectors
from ui.run.services import get_backend
from ui.show.tables import model_fields
from viz.components.base_path import BASE


def csv_rows(blocks: Iterable[tuple[Sequence[str], FloatArray]], channels: int, what: str) -> Iterator[str]:
    """Yield the CSV text of vectors, a block at a time: in each row a name, then all channels.

    ``what`` is the heading of the names. Names that a spreadsheet would run as formulas are escaped with an apostrophe.
    Nine digits restore every float32 exactly.

    >>> import numpy as np
    >>> "".join(csv_rows([(["it", "=x"], np.eye(2, dtype=np.float32))], 2, "token")).splitlines()
    ['token,channel 0,channel 1', 'it,1,0', "'=x,0,1"]
    """
    page = io.StringIO()
    writer = csv.writer(page)
    writer.writerow([what, *(f"channel {at}" for at in range(channels))])
    for names, vectors in blocks:
        for name, vector in zip(names, vectors.tolist(), strict=True):
            writer.writerow([safe_cell(name), *(f"{value:.9g}" for value in vector)])
        yield page.getvalue()
        page.seek(0)
        page.truncate()


PART = 64  # sentences in a request, which takes a fraction of a second; other visitors' requests run in between
LEFT_ALONE = 600.0  # seconds after which an unattended run pauses

Ask = Callable[[Pooled], TextVectors]


@dataclass(frozen=True)
class VectorNotes:
    """Counts of truncated and refused sentences, and a message about the first refused sentence."""

    cut: int = 0
    refused: int = 0
    first: str = ""


class VectorRun:
    """A computation of a vector for each sentence in ``asked.texts``, which can be stopped and resumed.

    Its state is "new", then "running", "stopped", "failed" or "done". The vectors are written to a .npy file part by
    part, (sentence, channel) float32. A stopped run keeps its vectors, and ``start`` resumes it. If the run is deleted,
    so is its file. ``ends`` returns a cancellation token for each part. A timeout, or a visitor who leaves, cancels the
    part and ends the run.
    """

    def __init__(self, asked: Pooled, ask: Ask, ends: Callable[[], CancelToken] = CancelToken) -> None:
        self.asked = asked
        self.token = secrets.token_urlsafe(16)
        self.folder = Path(tempfile.mkdtemp(prefix="headlight-vectors-"))
        self.file = self.folder / "vectors.npy"
        self.state = "new"
        self.done = 0
        self.notes = VectorNotes()
        self.error: UserError | None = None
        self.seen = time.monotonic()
        self.ask, self._ends = ask, ends
        self._stopping = threading.Event()
        self._changing = threading.Lock()
        self._thread: threading.Thread | None = None
        self._out: Any = None
        self._begun = (time.monotonic(), 0)
        weakref.finalize(self, shutil.rmtree, self.folder, True)
        _RUNS[self.token] = self

    @property
    def vectors(self) -> FloatArray:
        """Return the vectors computed so far, memory-mapped, shape (sentence, channel)."""
        if self._out is None:
            return np.zeros((0, 0), dtype=np.float32)
        made: FloatArray = self._out[: self.done]
        return made

    @property
    def seconds_left(self) -> float | None:
        """Return the estimated seconds left, from the speed since the last start; None before the first part."""
        since, before = self._begun
        made = self.done - before
        return (len(self.asked.texts) - self.done) * (time.monotonic() - since) / made if made else None

    def start(self) -> VectorRun:
        """Start or resume the run, and return it; do nothing if it is running or done."""
        with self._changing:
            if self.state not in ("running", "done"):
                self._stopping.clear()
                self.state, self.error = "running", None
                self.seen, self._begun = time.monotonic(), (time.monotonic(), self.done)
                self._thread = threading.Thread(target=self._run, name="corpus", daemon=True)
                self._thread.start()
        return self

    def stop(self) -> None:
        """Stop after the current part."""
        self._stopping.set()

    def mark_viewed(self) -> None:
        """Record that the progress was shown now; a run that nobody watches is paused after a while."""
        self.seen = time.monotonic()

    def wait(self, seconds: float) -> None:
        """Block until the run has ended, or for ``seconds``."""
        if self._thread is not None:
            self._thread.join(seconds)

    def _run(self) -> None:
        try:
            while self.done < len(self.asked.texts) and not self._stopping.is_set():
                self._part()
                if time.monotonic() - self.seen > LEFT_ALONE:
                    self.stop()
        except UserError as refusal:
            if not isinstance(refusal, Cancelled) or refusal.timed_out:
                self.error = refusal
        except OSError:
            self.error = UserError(gettext_lazy("Cannot write the vectors: the disk is full or read-only."))
        finally:
            with self._changing:
                done = self.done == len(self.asked.texts)
                self.state = "failed" if self.error is not None else "done" if done else "stopped"

    def _part(self) -> None:
        """Compute the vectors of the next PART sentences."""
        at = self.done
        texts = self.asked.texts[at : at + PART]
        with use_token(self._ends()):
            made = self.ask(replace(self.asked, texts=texts))
        self.notes = _add_notes(self.notes, made, at)
        if made.vectors.shape[1]:  # 0 if all sentences of the part were refused; the rows then stay zeros
            if self._out is None:
                self._out = self._file(made.vectors.shape[1])
            self._out[at : at + len(texts)] = made.vectors
        elif at + len(texts) == len(self.asked.texts) and self._out is None:
            raise UserError(
                gettext_lazy(
                    "{refused:,} sentences could not be read; their vectors are zero. {first}",
                    refused=self.notes.refused,
                    first=self.notes.first,
                )
            )
        self.done = at + len(texts)

    def _file(self, channels: int) -> Any:
        """Create the file at its full size, filled with zeros.

        Raise UserError if it needs more than half of the free disk space.
        """
        needed = 4 * len(self.asked.texts) * channels
        free = shutil.disk_usage(self.folder).free
        if needed > free // 2:
            raise UserError(
                gettext_lazy(
                    "The vectors need {needed:,.0f} MB; half of {free:,.0f} MB may be used. Use fewer sentences.",
                    needed=needed / 1e6,
                    free=free / 1e6,
                )
            )
        shape = (len(self.asked.texts), channels)
        return np.lib.format.open_memmap(self.file, mode="w+", dtype=np.float32, shape=shape)


_RUNS: weakref.WeakValueDictionary[str, VectorRun] = weakref.WeakValueDictionary()


def find(token: str) -> VectorRun | None:
    """Return the computation of sentence vectors with a secret token; None if it no longer exists."""
    return _RUNS.get(token)


def stored_run(state: Mapping[Any, Any], key: str) -> VectorRun | None:
    """Return the computation of sentence vectors that a session stores under ``key``, or None."""
    found = state.get(key)
    return found if isinstance(found, VectorRun) else None


def _add_notes(notes: VectorNotes, made: TextVectors, at: int) -> VectorNotes:
    reason = next(((number, said) for number, said in enumerate(made.refused, at + 1) if said), None)
    first = notes.first or (
        gettext_lazy("Sentence {number:,}: {reason}", number=reason[0], reason=reason[1]) if reason else ""
    )
    return VectorNotes(notes.cut + sum(made.cut), notes.refused + sum(map(bool, made.refused)), first)


PREFIX = f"{BASE}/headlight/vectors"
LONGEST = 120  # largest number of characters in a file name
BLOCK = 2048  # number of sentences in memory
NEVER = {"Cache-Control": "no-store"}
GONE = gettext_lazy("These vectors expired. Compute them again on their page.")


def npy(run: VectorRun) -> Response:
    """Return the sentence vectors as a .npy file, (sentence, channel) float32, named by their provenance."""
    name = "-".join(["vectors", *re.findall(r"[\w.]+", " ".join(run_provenance(run).values()))])
    return FileResponse(
        run.file, media_type="application/octet-stream", headers=_download_headers(f"{name[:LONGEST]}.npy")
    )


def as_csv(run: VectorRun) -> Response:
    """Return the sentence vectors as a CSV table, zipped with its provenance.

    The table has a row for each sentence and a column for each channel.
    """
    name = f"{file_stem('vectors', run_provenance(run))}.zip"
    return StreamingResponse(csv_blocks(run), media_type="application/zip", headers=_download_headers(name))


def parquet(run: VectorRun) -> Response:
    """Return the sentence vectors as a Parquet file with the columns "sentence" and "vector", a list of float32."""
    return StreamingResponse(
        parquet_blocks(run), media_type="application/vnd.apache.parquet", headers=_download_headers("vectors.parquet")
    )


def csv_blocks(run: VectorRun) -> Iterator[bytes]:
    """Yield the zip file of the CSV table and its provenance as bytes, a block of sentences at a time."""
    sink, stem = _Drain(), f"headlight-{file_stem('vectors', run_provenance(run))}"
    with zipfile.ZipFile(sink, "w") as files:
        with files.open(zip_member(f"{stem}.csv"), "w", force_zip64=True) as table:
            table.write(MARK.encode())
            for rows in csv_rows(blocks(run), int(run.vectors.shape[1]), "sentence"):
                table.write(rows.encode())
                yield sink.drain()
        files.writestr(zip_member(f"{stem}.meta.json"), meta_json(f"{stem}.csv", run_provenance(run)))
    yield sink.drain()


def parquet_blocks(run: VectorRun) -> Iterator[bytes]:
    """Yield the bytes of the Parquet file, a row group at a time; its metadata hold the provenance."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    channels = int(run.vectors.shape[1])
    schema = pa.schema([("sentence", pa.string()), ("vector", pa.list_(pa.float32(), channels))], run_provenance(run))
    sink = _Drain()
    with pq.ParquetWriter(pa.PythonFile(sink, mode="w"), schema) as writer:
        for texts, vectors in blocks(run):
            flat = pa.FixedSizeListArray.from_arrays(pa.array(vectors.reshape(-1)), channels)
            writer.write_table(pa.table([pa.array(texts, pa.string()), flat], schema=schema))
            yield sink.drain()
    yield sink.drain()


def blocks(run: VectorRun) -> Iterator[tuple[tuple[str, ...], np.ndarray[Any, Any]]]:
    """Yield sentences with their vectors, BLOCK at a time."""
    vectors = run.vectors
    for at in range(0, len(vectors), BLOCK):
        part = np.asarray(vectors[at : at + BLOCK])
        yield run.asked.texts[at : at + len(part)], part


def run_provenance(run: VectorRun) -> dict[str, str]:
    """Return the provenance of a run: the model, the mix of layers and the pooling of tokens."""
    asked = run.asked
    mix = f"level {asked.level}" if asked.mix == "level" else asked.mix
    return {**model_fields(get_backend().identity(asked.model, asked.revision)), "layers": mix, "tokens": asked.pooling}


class _Drain(io.RawIOBase):
    """A writable stream in memory that is emptied while it is written."""

    def __init__(self) -> None:
        self._held = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._held += data
        return len(data)

    def drain(self) -> bytes:
        """Return the bytes written since the last call."""
        taken, self._held = bytes(self._held), bytearray()
        return taken


FILES: dict[str, Callable[[VectorRun], Response]] = {
    "vectors.npy": npy,
    "vectors.parquet": parquet,
    "vectors.csv": as_csv,
}


def _download_headers(name: str) -> dict[str, str]:
    return {**NEVER, "Content-Disposition": f"attachment; filename*=UTF-8''{quote(f'headlight-{name}')}"}


def _endpoint(make: Callable[[VectorRun], Response]) -> Callable[[Request], Response]:
    def endpoint(request: Request) -> Response:
        run = find(request.path_params["run"])
        if run is None or run.state != "done":
            return PlainTextResponse(translate(GONE), 410)
        return make(run)

    return endpoint


def routes() -> list[Route]:
    """Return the routes for the app."""
    return [Route(f"{PREFIX}/{{run}}/{name}", _endpoint(make)) for name, make in FILES.items()]
