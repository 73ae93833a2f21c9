"""HTTP routes that serve the vectors of a run as .npy, Parquet and CSV files."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import quote

import numpy as np
from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from attention.spreadsheet import MARK, file_stem, meta_json, zip_member
from i18n import gettext_lazy, translate
from ui.pages.vectors.corpus import VectorRun, find
from ui.pages.vectors.vector_files import csv_rows
from ui.run.services import get_backend
from ui.show.tables import model_fields
from viz.components.base_path import BASE

PREFIX = f"{BASE}/headlight/vectors"
LONGEST = 120  # largest number of characters in a file name
BLOCK = 2048  # number of sentences in memory
NEVER = {"Cache-Control": "no-store"}
GONE = gettext_lazy("These vectors are no longer in memory. Compute them again on their page.")


def npy(run: VectorRun) -> Response:
    """Return the .npy file, (sentence, channel) float32; its name holds the provenance."""
    name = "-".join(["vectors", *re.findall(r"[\w.]+", " ".join(_run_provenance(run).values()))])
    return FileResponse(
        run.file, media_type="application/octet-stream", headers=_download_headers(f"{name[:LONGEST]}.npy")
    )


def as_csv(run: VectorRun) -> Response:
    """Return a zip file with the CSV table and its provenance.

    The table has a row for each sentence and a column for each channel.
    """
    name = f"{file_stem('vectors', _run_provenance(run))}.zip"
    return StreamingResponse(csv_blocks(run), media_type="application/zip", headers=_download_headers(name))


def parquet(run: VectorRun) -> Response:
    """Return a Parquet file with the columns "sentence" and "vector", a list of float32."""
    return StreamingResponse(
        parquet_blocks(run), media_type="application/vnd.apache.parquet", headers=_download_headers("vectors.parquet")
    )


def csv_blocks(run: VectorRun) -> Iterator[bytes]:
    """Yield the bytes of the zip file, a block of sentences at a time: the CSV table, then its provenance."""
    sink, stem = _Drain(), f"headlight-{file_stem('vectors', _run_provenance(run))}"
    with zipfile.ZipFile(sink, "w") as files:
        with files.open(zip_member(f"{stem}.csv"), "w", force_zip64=True) as table:
            table.write(MARK.encode())
            for rows in csv_rows(blocks(run), int(run.vectors.shape[1]), "sentence"):
                table.write(rows.encode())
                yield sink.drain()
        files.writestr(zip_member(f"{stem}.meta.json"), meta_json(f"{stem}.csv", _run_provenance(run)))
    yield sink.drain()


def parquet_blocks(run: VectorRun) -> Iterator[bytes]:
    """Yield the bytes of the Parquet file, a row group at a time; its metadata hold the provenance."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    channels = int(run.vectors.shape[1])
    schema = pa.schema([("sentence", pa.string()), ("vector", pa.list_(pa.float32(), channels))], _run_provenance(run))
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


def _run_provenance(run: VectorRun) -> dict[str, str]:
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
