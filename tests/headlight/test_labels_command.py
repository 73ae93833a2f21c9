"""The command ``headlight why-labels``, its file, its errors, and the same result in Python."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import headlight
from headlight.command import main
from probing.formats import PROBES
from tests.support.cases import loop_over

FILE = str(PROBES / "grammar.conllu")


@pytest.mark.slow
def test_the_file_is_the_result_in_python(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "labels.json"
    assert main(["why-labels", FILE, "--head", "2-8", "--relation", "obj", "--json", str(file)]) == 0
    found = json.loads(file.read_text())
    assert sum(term["mean"] for term in found["key_sources"]) == pytest.approx(found["centred"]["mean"], abs=1e-4)
    assert {"found", "shuffled", "p_shuffled", "p_rule"} <= set(found["directions"]["scores"][0])
    assert f"{found['centred']['mean']:.2f}" in capsys.readouterr().out
    assert headlight.why_labels(FILE, "2-8", "obj") == found


@pytest.mark.slow
@loop_over(
    "options",
    [
        ["--head", "2", "--relation", "obj"],
        ["--head", "2-80", "--relation", "obj"],
        ["--head", "2-8", "--relation", "nothing"],
        ["--head", "2-8", "--relation", "obj", "--format", "gap"],
        ["--head", "2-8", "--relation", "obj", "--json", "no/such/folder.json"],
    ],
)
def test_an_error_is_one_line(options: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["why-labels", FILE, *options]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert "Traceback" not in err
