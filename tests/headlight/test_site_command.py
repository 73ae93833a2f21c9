"""The command ``headlight site``: its folder, and its errors."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pytest

from attention.codec import decode_frame
from headlight.command import main
from headlight.site_command import FAMOUS, MARK
from inference.request import EMBEDDED
from tests.support.cases import loop_over
from tests.support.decoders import save_decoder
from tests.support.picturemodels import picture, save, sight
from ui.pages.explore.variants import describe_change, variants_of
from ui.state.view_state import ViewState
from viz.components.picture.content import photo as photo_of


@pytest.mark.slow
def test_a_site_is_replaced_by_the_next(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "site"
    assert main(["site", str(folder), "--text", "A cat sat because it was tired.", "--title", "<Cats>"]) == 0
    page = (folder / "index.html").read_text(encoding="utf-8")
    assert MARK in page
    assert "&lt;Cats&gt;" in page
    assert all(word in page for word in FAMOUS.words)
    shown = ViewState(model=EMBEDDED, text=FAMOUS.texts[1])
    variants = variants_of(shown)
    assert variants is not None
    by_app = re.findall(r"\d+ of 72", describe_change(shown, variants) or "")
    assert re.findall(r"\d+ of 72", page) == 2 * by_app
    assert len(list(folder.glob("texts/*.bin"))) == 3
    assert main(["site", str(folder), "--only", "--text", "A {cat|dog} sat.", "--lang", "zh"]) == 0
    page = (folder / "index.html").read_text(encoding="utf-8")
    assert '<html lang="zh">' in page
    assert FAMOUS.words[0] not in page
    files = {file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file()}
    assert len(files) == 6  # the page, its script, its style sheet, the service worker, two texts
    assert all(file in page or file in ("index.html", "worker.js") for file in files)
    assert str(folder) in capsys.readouterr().out


@pytest.mark.slow
def test_pictures_and_models_of_any_kind_are_recorded(tmp_path: Path) -> None:
    seen = save(sight("DINOv2 with registers"), tmp_path / "sees")
    writes = save_decoder(tmp_path / "writes", "Llama")
    photo = tmp_path / "Two cats.png"
    photo.write_bytes(photo_of(picture()))
    folder = tmp_path / "site"
    options = ["--only", "--model", str(seen), "--picture", str(photo), "--caption", "Figure 1"]
    options += ["--model", str(writes), "--text", "A cat sat.", "--model", "headlight-en-fr", "--text", "A cat sleeps."]
    assert main(["site", str(folder), *options, "--cite", "Doe (2026)"]) == 0
    headers = [decode_frame(gzip.decompress(file.read_bytes()))[0] for file in folder.glob("texts/*.bin")]
    models = {Path(header["payload"].get("model", {"name": "sees"})["name"]).name for header in headers}
    assert models == {"sees", "writes", "headlight-en-fr"}
    page = (folder / "index.html").read_text(encoding="utf-8")
    assert page.index("Two cats") < page.index("A cat sat.") < page.index("A cat sleeps.")
    assert "Figure 1" in page
    assert "Doe (2026)" in page
    cross = ["--only", "--model", "headlight-en-fr", "--part", "cross", "--text", "A cat."]
    assert main(["site", str(folder), *cross]) == 0
    [text] = folder.glob("texts/*")  # the photo and the scripts of the earlier site are gone
    assert decode_frame(gzip.decompress(text.read_bytes()))[0]["payload"]["direction"] == "cross"
    assert not list(folder.glob("picture-*"))


def test_a_caption_needs_an_entry(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["site", str(tmp_path / "site"), "--caption", "Figure 1", "--text", "A cat."])
    assert "--caption" in capsys.readouterr().err


def test_a_folder_of_something_else_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "thesis.tex").write_text("mine")
    for folder in (tmp_path, tmp_path / "thesis.tex"):
        assert main(["site", str(folder)]) == 2
        assert capsys.readouterr().err.count("\n") == 1
    assert [file.name for file in tmp_path.iterdir()] == ["thesis.tex"]


@pytest.mark.slow
@loop_over(
    "options",
    [
        ["--only"],
        ["--text", "A cat.", "--part", "cross"],
        ["--text", " "],
        ["--picture", "no/such.png"],
        ["--lessons", "nothing"],
        ["--text", "{a|b} {c|d}"],
        ["--model", "no/such/folder/"],
        ["--title", "caf\udce9"],
        ["--text", "A cat.", "--caption", "caf\udce9"],
    ],
)
def test_an_error_is_one_line(options: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["site", str(tmp_path / "site"), *options]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert not (tmp_path / "site").exists()
