"""Downloads of visitors' atlases by their link."""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import asdict
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from probing.atlas.build import STATE
from probing.atlas.store import MANIFEST
from training.jobs.atlas_builds import ATLAS, FOLDER, REQUEST, AtlasBuild, AtlasBuilds
from ui.pages.atlas_build import routes
from ui.pages.atlas_build.routes import PREFIX

BUILD = AtlasBuild("a" * 22, "me", '"; filename="evil.exe\r\nX-Evil: 1 图谱', "bert", None, 9, "2026")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(routes, "atlas_builds", lambda: AtlasBuilds(tmp_path))
    folder = tmp_path / FOLDER / BUILD.id
    (folder / ATLAS).mkdir(parents=True)
    (folder / REQUEST).write_text(json.dumps(asdict(BUILD)), encoding="utf-8")
    return folder


def test_an_atlas_is_saved_under_its_title_without_its_state(folder: Path) -> None:
    client = TestClient(Starlette(routes=routes.routes()))
    assert client.get(f"{PREFIX}/{BUILD.id}.zip").status_code == 410
    for name in (MANIFEST, STATE):
        (folder / ATLAS / name).write_text(name, encoding="utf-8")
    answer = client.get(f"{PREFIX}/{BUILD.id}.zip")
    name = "atlas-filename-evil-exe-x-evil-1"
    assert answer.headers["content-disposition"] == f'attachment; filename="{name}.zip"'
    assert "x-evil" not in answer.headers
    assert zipfile.ZipFile(io.BytesIO(answer.content)).namelist() == [f"{name}/{MANIFEST}"]
    assert client.get(f"{PREFIX}/{'b' * 22}.zip").status_code == 410
