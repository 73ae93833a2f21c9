"""Local model folders: accepted inside the allowed folders, without information about other paths."""

from __future__ import annotations

from pathlib import Path

import pytest

from inference.errors import UserError
from inference.files.sources import is_path, iterate_folders, resolve_folder
from tests.support.cases import loop_over


@pytest.fixture
def allowed(tmp_path: Path) -> Path:
    root = tmp_path / "models"
    (root / "mine").mkdir(parents=True)
    (root / "mine" / "config.json").write_text("{}")
    (tmp_path / "outside").mkdir()
    (tmp_path / "models-next").mkdir()
    (root / "way-out").symlink_to(tmp_path / "outside")
    (root / "file.zip").write_bytes(b"PK")
    return root


def test_inside(allowed: Path) -> None:
    assert resolve_folder(str(allowed / "mine"), [allowed]) == allowed / "mine"
    assert resolve_folder("./mine", [allowed]) == allowed / "mine"
    assert resolve_folder(str(allowed), [allowed]) == allowed
    assert [folder.name for folder in iterate_folders([allowed])] == ["mine"]


def test_outside_reads_the_same_whether_it_exists_or_not(allowed: Path, tmp_path: Path) -> None:
    names = ["/etc", "/etc/passwd", "/nowhere", str(tmp_path / "outside"), str(tmp_path / "models-next"), "~"]
    names += [f"{allowed}/../outside", f"{allowed}/mine/../../outside", "../outside", "..", "a\0b", "..\\x"]
    names += [str(allowed / "way-out"), "/" + "x" * 5000]
    sentences = set()
    for name in names:
        with pytest.raises(UserError) as caught:
            resolve_folder(name if name != "~" else "/root", [allowed])
        sentences.add(str(caught.value))
    assert len(sentences) == 1
    assert "HEADLIGHT_MODEL_FOLDERS" in sentences.pop()


def test_nothing_outside_is_even_looked_up(allowed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    real = Path.is_dir

    def noting(path: Path) -> bool:
        seen.append(str(path))
        return real(path)

    monkeypatch.setattr(Path, "is_dir", noting)
    with pytest.raises(UserError):
        resolve_folder("/etc", [allowed])
    assert seen == []


def test_not_a_folder(allowed: Path) -> None:
    with pytest.raises(UserError, match=r'zip" .*folder'):
        resolve_folder(str(allowed / "file.zip"), [allowed])
    with pytest.raises(UserError, match='"none" is'):
        resolve_folder(str(allowed / "none"), [allowed])


def test_switched_off() -> None:
    with pytest.raises(UserError, match="Local models"):
        resolve_folder("/etc", [])


@loop_over("name", ["/x", "./x", "../x", "a/../b", "~/x", "C:\\x", "C:/x", "\\\\host\\x", "."])
def test_paths(name: str) -> None:
    assert is_path(name)


@pytest.mark.parametrize("name", ["bert-base-uncased", "google-bert/bert-base-uncased", "tests", "a..b"])
def test_ids(name: str) -> None:
    assert not is_path(name)


def test_the_last_checkpoint_of_a_run_is_opened(tmp_path: Path) -> None:
    run = tmp_path / "run"
    for steps in (90, 1000, 500):
        (run / f"checkpoint-{steps}").mkdir(parents=True)
        (run / f"checkpoint-{steps}" / "config.json").write_text("{}")
    (run / "checkpoint-2000").mkdir()  # An empty folder.
    (run / "checkpoint-3000").symlink_to("/")
    assert resolve_folder(str(run), [tmp_path]) == run / "checkpoint-1000"
    (run / "config.json").write_text("{}")
    assert resolve_folder(str(run), [tmp_path]) == run
