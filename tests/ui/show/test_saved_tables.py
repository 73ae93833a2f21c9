"""Tables saved by pages, routes and commands: equal to what pandas reads by default, with their provenance."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from attention import spreadsheet
from attention.storage import dump
from headlight.command import main
from inference.files.embedded import SMOLLM
from inference.tasks.hidden_states import Pooled
from probing.__main__ import main as score
from tests.probing.test_score import SENTENCES, tree
from tests.support.asking import asked
from tests.support.tinymodels import save
from tests.support.traces import sentence_trace
from tests.ui.pages.vectors.test_corpus import Model, finished
from ui.pages.block.plan import FOLDS
from ui.pages.vectors.corpus import VectorRun
from ui.pages.vectors.corpus import routes as vector_routes
from ui.routes.exports import FILES, routes
from ui.routes.traces import PREFIX
from ui.run.services import ViewOptions, get_trace_store, trace_seal
from ui.show import tables

CASES: list[tuple[str, dict[str, Any], tuple[str, ...]]] = [  # (view, address, expanders that are open)
    ("agreement", {}, ()),
    ("block", {"fold": ",".join(FOLDS)}, ()),
    ("cause", {}, ()),
    ("compare", {"other": "The dog sat."}, ()),
    ("find", {}, ()),
    ("generate", {"show": "induction"}, ("generate_rows",)),
    ("masked_words", {}, ("masked_rows",)),
    ("measure", {}, ("measure_heads_open",)),
    ("next_sentence", {}, ()),
    ("patching", {"watch": "vector", "other": "The dog sat."}, ()),
    ("roles", {}, ()),
    ("similarity", {"other": "The dog sat."}, ()),
    ("step_by_step", {"stage": "all"}, ()),
    ("tokens", {}, ("tokens_table_0", "tokens_table_1")),
    ("translate", {}, ("translate_step_rows",)),
    ("vectors", {}, ("vectors_numbers",)),
    ("whole_pass", {"zoom": "stage", "stage": 30, "row": 1, "column": 2, "change": "number", "becomes": "1"}, ()),
]
TEXT = "The cat, =1+1 or NA, sat."


def check_table(content: bytes) -> pd.DataFrame:
    """Read a table by pandas without arguments, and compare each cell with the table; return the frame."""
    header, *rows = csv.reader(io.StringIO(content.decode("utf-8-sig"), newline=""))
    frame = pd.read_csv(io.BytesIO(content))
    assert frame.columns.tolist() == header
    assert list(frame.index) == list(range(len(rows)))  # No extra cell became an index.
    assert rows
    for row, read in zip(rows, frame.itertuples(index=False), strict=True):
        for cell, value in zip(row, read, strict=True):
            if isinstance(value, str):
                assert cell == value
            elif pd.isna(value):
                assert cell in ("", "NA", "nan")
            elif isinstance(value, bool):
                assert cell == str(value)
            else:
                assert float(cell) == pytest.approx(float(value), rel=1e-15)
    return frame


def check_archive(content: bytes) -> None:
    """Check the table and the provenance of a zip file; the names contain the model, the head and the text."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".csv"))
        stem = name.removesuffix(".csv")
        assert sorted(archive.namelist()) == [f"{stem}.csv", f"{stem}.meta.json"]
        about = json.loads(archive.read(f"{stem}.meta.json"))
        check_table(archive.read(name))
    assert about["table"] == name
    first = about.get("first", about)
    assert str(first["model"]).rsplit("/", 1)[-1][:8] in stem
    if first.get("layer") is not None and first.get("head") is not None:
        assert f"_{first['layer']}-{first['head']}" in stem
    if first.get("text"):
        assert str(first["text"]).split()[0].strip(",.").lower() in stem


@pytest.mark.slow
@pytest.mark.parametrize(("name", "query", "unfolded"), CASES, ids=[case[0] for case in CASES])
def test_a_saved_table_is_read_by_pandas(
    name: str, query: dict[str, Any], unfolded: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[bytes] = []

    def keep(stem: str, table: str | bytes, provenance: Any) -> bytes:
        made.append(spreadsheet.with_provenance(stem, table, provenance))
        return made[-1]

    monkeypatch.setattr(tables, "with_provenance", keep)
    page = asked(name, text=TEXT, **query)
    for section in unfolded:
        page.session_state[section] = True
    if unfolded:
        page.run()
    assert not page.exception
    if name != "generate" or SMOLLM.is_installed():  # without a decoder there is no next token
        assert len(made) >= max(1, len(unfolded))
    for content in made:
        check_archive(content)


def test_tables_of_routes_are_read_by_pandas() -> None:
    trace = get_trace_store().open(dump(sentence_trace()))
    client = TestClient(Starlette(routes=[*routes(), *vector_routes()]))
    run = finished(VectorRun(Pooled(texts=("=1+1", "NA", "A third one, with commas.")), Model()))
    head = f"{ViewOptions().query()}&seal={trace_seal(trace.id)}&layer=1&head=2"
    saved = [f"{PREFIX}/{trace.id}/{name}?{head}" for name in FILES if name.endswith(".csv")]
    assert len(saved) == 2
    for address in (*saved, f"/headlight/vectors/{run.token}/vectors.csv"):
        answer = client.get(address)
        assert answer.status_code == 200, answer.text
        check = check_table if "export.csv" in address else check_archive  # The tidy table is not zipped.
        check(answer.content)


@pytest.mark.slow
def test_tables_of_commands_are_read_by_pandas(tmp_path: Path) -> None:
    model = str(save(tmp_path / "tiny", "bert"))
    file = tmp_path / "map.csv"
    assert main(["export", TEXT, str(file), "--model", model, "--head", "1-2"]) == 0
    frame = check_table(file.read_bytes())
    about = json.loads(file.with_name("map.meta.json").read_text(encoding="utf-8"))
    assert (about["table"], about["layer"], about["head"], about["text"]) == ("map.csv", 1, 2, TEXT)
    assert frame.shape[0] + 1 == frame.shape[1]  # a row for each query, a column for each key and the names
    (tmp_path / "tree.conllu").write_bytes(tree(SENTENCES))
    scores = tmp_path / "scores.csv"
    given = ["score", str(tmp_path / "tree.conllu"), "--format", "conllu", "--model", model, "--csv", str(scores)]
    assert score(given) == 0
    assert len(check_table(scores.read_bytes())) == 18
