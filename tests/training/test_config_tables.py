"""Invalid configurations and command lines, refused with a message that names valid values."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from inference.errors import UserError
from tests.support import translationtexts
from tests.support.trainingtexts import TOML, Setting, change, setting  # noqa: F401  (fixture)
from training import bert, config, export
from training.__main__ import main
from training.config import Amount, Count, check_value
from training.translation import config as translation
from training.translation.data import SMALLEST

BERT = TOML.format(run="run", steps=9, hold=0.0, precision="fp32", evaluate_steps=5) + "[masking]\nrate = [0.2, 0.1]\n"
TRANSLATOR = translationtexts.TOML.format(run="run", steps=9, precision="fp32", evaluate_steps=5)
COUNT, SHARE, AMOUNT = "whole number, at least 1", "number, above 0 and below 1", "number, finite and at least 0"
ROOT = Path(__file__).resolve().parents[2]


def test_what_bert_cannot_do_is_refused(subtests: pytest.Subtests, tmp_path: Path) -> None:
    for old, new, message in [
        *[
            (old, f"{old.split()[0]} = {new}", rf"\[loop\] {old.split()[0]} = .* will not do: it takes a {COUNT}")
            for old in ("threads = 1", "log_steps = 2", "evaluate_steps = 5", "evaluate_pairs = 8")
            for new in ("0", "-3", "1.5", '"two"', "true", "nan")
        ],
        ("batch = 4", "batch = 0", rf"\[optimiser\] batch = 0 will not do: it takes a {COUNT}"),
        ("steps = 9", "steps = -1", rf"\[optimiser\] steps = -1 will not do: it takes a {COUNT}"),
        ("rate = 5e-3", "rate = inf", r"\[optimiser\] rate = Infinity will not do: .* finite and above 0"),
        ("weight = 0.0", "weight = nan", rf"\[hold\] weight = NaN will not do: it takes a {AMOUNT}"),
        ("seed = 7", "seed = -7", r"\[loop\] seed = -7 will not do: it takes a whole number, at least 0"),
        ("[0.2, 0.1]", "0.15", r"\[masking\] rate = 0.15 will not do: it takes a list of 2 values"),
        ("[0.2, 0.1]", "[0.15]", r"\[masking\] rate = \[0.15\] will not do: it takes a list of 2 values"),
        ("[0.2, 0.1]", "[0.2, 0]", r"\[masking\] rate = 0 will not do: .* above 0 and at most 1"),
        ("[0.2, 0.1]", "[1.01, 0.2]", r"\[masking\] rate = 1.01 will not do"),
        ("[0.2, 0.1]", "[0.2, 0.1]\nwhole_words = 1", r"whole_words = 1 will not do: it takes true or false"),
        ("held_out = 0.25", "held_out = 0", rf"\[data\] held_out = 0 will not do: it takes a {SHARE}"),
        ("held_out = 0.25", "held_out = 1", rf"\[data\] held_out = 1 will not do: it takes a {SHARE}"),
        ("length = 48", "length = 16", r"\[data\] length = 16 will not do: it takes a whole number, above 16"),
        ("[[source]]", "[source]", r"write \[\[source\]\] in double brackets"),
        ('name = "farm"', "name = 3", r"\[source\] name = 3 will not do: it takes a text"),
        ('path = "texts"', "", r"\[source\] lacks a setting"),
        ('run = "run"', "run = 3", "run = 3 will not do: it takes a text"),
        ('start = "start"', "start = 3", "start = 3 will not do: it takes a text"),
    ]:
        with subtests.test(old=old, new=new, message=message):
            (tmp_path / "run.toml").write_text(BERT, encoding="utf-8")
            with pytest.raises(UserError, match=message):
                config.read(change(tmp_path / "run.toml", old, new))


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("source = []", "There is no list of sources"),
        ('source = ["a"]', r"source is not a table: write \[source\]"),
        ('data = 3\n[[source]]\nname = "a"', r"data is not a table: write \[data\]"),
        (
            2 * '[[source]]\nname = "a"\npath = "a"\nlicence = "a"\nattribution = "a"\n',
            r"Two sources have one name; give each \[\[source\]\] its own",
        ),
    ],
)
def test_what_is_no_table_is_refused(tmp_path: Path, lines: str, message: str) -> None:
    (tmp_path / "run.toml").write_text(f'run = "r"\nstart = "s"\n{lines}', encoding="utf-8")
    with pytest.raises(UserError, match=message):
        config.read(tmp_path / "run.toml")


def test_what_a_translator_cannot_do_is_refused(subtests: pytest.Subtests, tmp_path: Path) -> None:
    for old, new, message in [
        ("heads = 3", "heads = 5", r"\[shape\] width = 24 is not a multiple of heads = 5"),
        ("vocabulary = 500", "vocabulary = 258", rf"vocabulary = 258 will not do: .* at least {SMALLEST}"),
        ("longest = 24", "longest = 0", rf"\[data\] longest = 0 will not do: it takes a {COUNT}"),
        ("evaluate_pairs = 6", "evaluate_pairs = 0", r"\[loop\] evaluate_pairs = 0 will not do"),
        ("dropout = 0.1", "dropout = 1.0", r"\[shape\] dropout = 1.0 will not do: .* at least 0 and below 1"),
        ("held_out = 0.2", "held_out = 1.0", rf"\[data\] held_out = 1.0 will not do: it takes a {SHARE}"),
        ("batch = 256", "layer_decay = 0.9", r"\[optimiser\] has no setting layer_decay"),
        ('licence = "cc0-1.0"', 'language = "en"', r"\[card\] has no setting language"),
        ('licence = "cc0-1.0"', 'start = "zero"', r"\[card\] has no setting start"),
    ]:
        with subtests.test(old=old, new=new, message=message):
            (tmp_path / "run.toml").write_text(TRANSLATOR, encoding="utf-8")
            with pytest.raises(UserError, match=message):
                translation.read(change(tmp_path / "run.toml", old, new))


def test_pairs_that_are_no_table_are_refused(tmp_path: Path) -> None:
    (tmp_path / "run.toml").write_text('run = "r"\npairs = "x"', encoding="utf-8")
    with pytest.raises(UserError, match=r"write \[pairs\]"):
        translation.read(tmp_path / "run.toml")


def test_what_is_not_said_is_what_the_recipe_needs(tmp_path: Path) -> None:
    table = 'name = "a"\npath = "a"\nlicence = "a"\nattribution = "a"\n'
    (tmp_path / "one.toml").write_text(f'run = "r"\nstart = "s"\n[[source]]\n{table}', encoding="utf-8")
    (tmp_path / "other.toml").write_text(f'run = "r"\n[pairs]\n{table}', encoding="utf-8")
    one, other = config.read(tmp_path / "one.toml"), translation.read(tmp_path / "other.toml")
    assert (one.optimiser.batch, one.card.title) == (32, "A BERT with both heads")
    assert (other.optimiser.batch, other.card.title) == (3_072, "A small translator")


def test_the_embedded_models_own_configurations_are_read() -> None:
    for file, read in (("headlight-bert.toml", config.read), ("headlight-en-fr.toml", translation.read)):
        found = read(ROOT / "training" / file)
        assert found.card.title == file.removesuffix(".toml")


def test_numbers_are_what_their_fields_say() -> None:
    assert repr(check_value("weight", 5, Amount)) == "5.0"
    assert check_value("threads", 2, Count) == 2


def test_pairs_longer_than_the_model_reads_are_refused_before_anything_is_written(setting: Setting) -> None:  # noqa: F811
    file = change(setting(steps=9), "length = 48", "length = 65")
    with pytest.raises(UserError, match=r"length = 65 .* 64 pieces"):
        bert.pretrain(config.read(file))
    assert not file.with_suffix("").exists()


def test_sentences_that_make_no_pair_are_refused(setting: Setting) -> None:  # noqa: F811
    file = change(setting(steps=9), 'path = "texts"', 'path = "long.txt"')
    file.with_name("long.txt").write_text("a cat sat by the gate\n" * 9, encoding="utf-8")
    with pytest.raises(UserError, match=r"\[data\] held_out"):
        bert.pretrain(config.read(file))
    rows = "\n".join(f'{{"text": "{"a cat " * 40}"}}' for _ in range(30))
    file.with_name("long.jsonl").write_text(rows, encoding="utf-8")
    with pytest.raises(UserError, match="of 48 pieces"):
        bert.pretrain(config.read(change(file, "long.txt", "long.jsonl")))


def test_minutes_are_finite(subtests: pytest.Subtests, capsys: pytest.CaptureFixture[str]) -> None:
    for option, number, command in product(
        ["--stop-after", "--finish-in"], ["nan", "inf", "-1"], ["pretrain", "translate"]
    ):
        with subtests.test(option=option, number=number, command=command):
            assert main([command, "none.toml", f"{option}={number}"]) == 2
            assert capsys.readouterr().err.endswith(f" will not do: it takes a {AMOUNT}.\n")


@pytest.mark.parametrize(("command", "option"), [("export", "--pairs"), ("export-translator", "--sentences")])
def test_nothing_cannot_be_scored(command: str, option: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, "none.toml", "folder", option, "0"]) == 2
    assert capsys.readouterr().err == f"{option} = 0 will not do: it takes a {COUNT}.\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "more.json cannot be used"),
        ("{", "is not JSON"),
        ("[3]", "must hold tables"),
        ('{"a": 3}', "must"),
    ],
)
def test_further_scores_are_read_before_anything_is_scored(
    setting: Setting,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    text: str | None,
    message: str,
) -> None:
    file = setting(steps=5)
    bert.pretrain(config.read(file))
    monkeypatch.setattr(export, "evaluate_folder", lambda *_: pytest.fail("it was scored first"))
    if text is not None:
        file.with_name("more.json").write_text(text, encoding="utf-8")
    folder = file.with_name("model")
    assert main(["export", str(file), str(folder), "--further", str(file.with_name("more.json"))]) == 2
    assert message in capsys.readouterr().err
    assert not folder.exists()
