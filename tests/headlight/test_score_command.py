"""The command ``headlight why``, its file, its errors, and the same result in Python."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

import headlight
from attention.view import DisplayToken
from headlight.command import main
from headlight.command_input import CommandError
from headlight.score_command import find_token, summary
from tests.support.cases import loop_over
from tests.support.picturemodels import picture, save, sight

TEXT = "The animal didn't cross the street because it was too tired, was it?"


def cells(*texts: str) -> list[DisplayToken]:
    return [DisplayToken(text, False, 0, at, (at, at + 1), False) for at, text in enumerate(texts)]


@loop_over(("name", "index"), [("it", 1), ("it:1", 1), ("it:2", 3), ("2", 2), ("a:3", 4), ("IT", 1)])
def test_a_name_means_a_token(name: str, index: int) -> None:
    row = cells("so", "it", "was", "it", "a:3")
    assert find_token(row, row, name).index == index


@loop_over("name", ["dog", "it:3", "5", "it:0"])
def test_a_missing_name_is_refused(name: str) -> None:
    row = cells("so", "it", "was", "it", "a:3")
    with pytest.raises(CommandError, match=name):
        find_token(row, row, name)


def test_a_word_of_several_tokens_is_its_first() -> None:
    tokens = cells("so", "un", "usual", "it")
    word = DisplayToken("unusual", False, 0, 1, (1, 3), False)
    found = find_token(tokens, [tokens[0], word, tokens[3]], "unusual")
    assert (found.index, found.tokens) == (1, 2)
    assert "un" in found.note
    assert find_token(tokens, tokens, "it").note == ""


@pytest.mark.slow
def test_the_file_has_terms_that_sum_to_the_score(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "why.json"
    given = ["why", TEXT, "--head", "3-1", "--from", "it:2", "--to", "animal", "--json", str(file)]
    assert main(given) == 0
    found = json.loads(file.read_text())
    assert sum(term["value"] for term in found["terms"]) == pytest.approx(found["score"], abs=1e-4)
    excess = found["score"] - found["mean_over_keys"]
    assert sum(term["centred"] for term in found["terms"]) == pytest.approx(excess, abs=1e-4)
    assert {"source", "predicted", "measured"} <= set(found["checks"][0])
    assert found["from"]["token"] > TEXT.split().index("it")
    assert f"{found['score']:.2f}" in capsys.readouterr().out
    assert headlight.why(TEXT, "3-1", "it:2", "animal") == found


@pytest.mark.slow
def test_a_picture_has_patches_as_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model, shown, file = save(sight("ViT"), tmp_path / "vit"), tmp_path / "noise.png", tmp_path / "why.json"
    Image.fromarray(picture().pixels).save(shown)
    given = ["why", "--picture", str(shown), "--model", str(model), "--head", "1-2", "--json", str(file)]
    assert main([*given, "--from", "[CLS]", "--to", "2,4"]) == 0
    found = json.loads(file.read_text())
    assert (found["from"]["token"], found["to"]) == (0, {"token": 10, "text": "(2, 4)"})  # 6 columns after [CLS]
    assert sum(term["value"] for term in found["terms"]) == pytest.approx(found["score"], abs=1e-4)
    assert headlight.why("", "1-2", "[CLS]", "2,4", model=str(model), picture=shown) == found
    capsys.readouterr()
    for wrong in (["--to", "7,7"], ["--to", "2,4", "--picture", str(model)], ["--to", "2,4", "text"]):
        assert main([*given, "--from", "[CLS]", *wrong]) == 2
        assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.slow
@loop_over(
    "options",
    [
        ["--head", "3", "--from", "it", "--to", "animal"],
        ["--head", "3-1", "--from", "dog", "--to", "animal"],
        ["--head", "3-1", "--from", "it", "--to", "400"],
        ["--head", "30-1", "--from", "it", "--to", "animal"],
        ["--head", "3-1", "--from", "it", "--to", "animal", "--part", "cross"],
        ["--head", "3-1", "--from", "it", "--to", "animal", "--json", "no/such/folder.json"],
    ],
)
def test_an_error_is_one_line(options: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["why", TEXT, *options]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert "Traceback" not in err


def test_a_summary_warns_of_checks_that_differ() -> None:
    check: dict[str, Any] = {"side": "query", "source": "ffn 2", "predicted": 2.0, "measured": 1.0, "differs": True}
    found = {
        "from": {"text": "it"}, "to": {"text": "animal"}, "head": "3-1", "score": 3.0, "mean_over_keys": 1.0,
        "checks": [check, {**check, "side": "key", "differs": False}], "notes": ["A note."],
    }  # fmt: skip
    lines = summary(found).splitlines()
    assert "%" in lines[1]
    assert "%" not in lines[-2]
    assert lines[-1] == "A note."
