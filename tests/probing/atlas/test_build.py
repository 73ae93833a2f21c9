"""Atlases of tiny models: links equal brute force, and stopped, sharded and resumed runs equal a single run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attention.excess import excess_map, visible_word_pairs
from attention.strongest_links import LEAST
from attention.view import View
from headlight.command import main
from inference import LocalBackend, TraceRequest, UserError
from inference.settings import Settings
from inference.tasks.atlas import WINDOW
from probing.atlas import create
from probing.atlas import texts as atlas_texts
from probing.atlas.build import AtlasPlan, build, resume, run_plan
from probing.atlas.create import UncachedBackend
from probing.atlas.search import LinkQuery, find_links, hits
from probing.atlas.state import AtlasState
from probing.atlas.store import Atlas, write_atlas
from tests.support.cases import loop_over
from tests.support.tinymodels import save

KINDS = {"bert": "encoder", "gpt2": "decoder"}
SENTENCES = ["the playing cat was tired .", "it crossed the street ! the cat saw it", "the animal was it", "a cat saw"]


@pytest.fixture(scope="module")
def backend(tmp_path_factory: pytest.TempPathFactory) -> UncachedBackend:
    root = tmp_path_factory.mktemp("models")
    for kind in (*KINDS, "t5", "deberta"):
        save(root / kind, kind)
    return UncachedBackend(LocalBackend(Settings(model_folders=(root,))))


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(atlas_texts, "BLOCK_TEXTS", 2)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "texts.txt"
    path.write_text("\n\n".join([*SENTENCES, " ".join(SENTENCES * 9)]), encoding="utf-8")
    return path


def plan_for(backend: UncachedBackend, file: Path, kind: str, **options: Any) -> AtlasPlan:
    return AtlasPlan((file,), str(backend.backend.settings.model_folders[0] / kind), **options)


def build_atlas(backend: UncachedBackend, plan: AtlasPlan, folder: Path, state: AtlasState | None = None) -> Atlas:
    """Build an atlas, or write that of a state, and open it."""
    if state is None:
        state = AtlasState(plan.most, plan.most_written)
        for _ in build(backend, plan, state):
            pass
    write_atlas(folder, state, plan, [])
    return Atlas.open(folder)


def brute_force(backend: UncachedBackend, atlas: Atlas, model: str) -> dict[tuple[Any, ...], float]:
    """Return the excess of every pair of tokens in every window, by (text, layer, head, query, key)."""
    found = {}
    for text in atlas.windows["text"].to_pylist():
        view = View(backend.backend.trace(TraceRequest(model=model, text=text)))
        assert len(view.queries) <= WINDOW
        rows = [at for at, cell in enumerate(view.queries) if not cell.special]
        for layer in range(view.layers):
            counted = visible_word_pairs(view, layer, np.arange(len(view.queries)))
            for head in range(view.heads):
                excess = excess_map(view.weights(layer, head), counted)
                for row in rows:
                    for key in np.nonzero(excess[row] >= LEAST)[0]:
                        found[text, layer, head, row, int(key)] = float(excess[row, key])
    return found


def by_place(found: list[dict[str, Any]]) -> dict[tuple[Any, ...], float]:
    names = ("text", "layer", "head", "query_position", "key_position")
    return {tuple(hit[name] for name in names): hit["excess"] for hit in found}


@loop_over("kind", KINDS)
def test_all_links_equal_brute_force(backend: UncachedBackend, file: Path, tmp_path: Path, kind: str) -> None:
    plan = plan_for(backend, file, kind)
    atlas = build_atlas(backend, plan, tmp_path / kind)
    found = find_links(atlas, LinkQuery())
    got, want = by_place(hits(atlas, found)), brute_force(backend, atlas, plan.model)
    near = {key for key in got.keys() ^ want.keys() if abs(got.get(key, want.get(key, 0)) - LEAST) > 1e-6}
    assert not near
    assert max(abs(got[key] - want[key]) for key in got.keys() & want.keys()) < 1e-5
    assert found.complete
    assert list(found.columns["excess"]) == sorted(found.columns["excess"], reverse=True)


def test_few_links_are_those_above_the_floor(backend: UncachedBackend, file: Path, tmp_path: Path) -> None:
    plan = plan_for(backend, file, "bert", most=40)
    atlas = build_atlas(backend, plan, tmp_path / "atlas")
    found = find_links(atlas, LinkQuery(query="it", key="the", head=(1, 0)))
    want = brute_force(backend, atlas, plan.model)
    words = {
        text: [cell.label for cell in View(backend.backend.trace(TraceRequest(model=plan.model, text=text))).queries]
        for text in atlas.windows["text"].to_pylist()
    }
    floor = found.floor["1-0"]
    above = {
        place
        for place, excess in want.items()
        if excess > floor + 1e-6
        and place[1:3] == (1, 0)
        and (words[place[0]][place[3]], words[place[0]][place[4]]) == ("it", "the")
    }
    assert above <= by_place(hits(atlas, found)).keys()
    assert all(hit["excess"] >= floor for hit in hits(atlas, found))
    assert not found.complete


def contents(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def test_a_stopped_and_resumed_run_equals_a_single_run(backend: UncachedBackend, file: Path, tmp_path: Path) -> None:
    plan = plan_for(backend, file, "bert", most=60, most_written=5)
    build_atlas(backend, plan, tmp_path / "whole")
    folder = tmp_path / "stopped"
    folder.mkdir()
    for _ in range(10):
        state, complete = run_plan(backend, plan, folder, "key", stopped=lambda: True)
        if complete:
            break
        part = resume(folder, "key")
        assert part is not None
        assert part.blocks == state.blocks
    build_atlas(backend, plan, tmp_path / "resumed", state)
    assert complete
    assert contents(tmp_path / "resumed") == contents(tmp_path / "whole")


def test_two_shards_joined_equal_a_single_run(backend: UncachedBackend, file: Path, tmp_path: Path) -> None:
    plan = plan_for(backend, file, "gpt2", most=60, tokens=500)
    build_atlas(backend, plan, tmp_path / "whole")
    shards = []
    for number in (1, 0):
        state = AtlasState(plan.most, plan.most_written)
        for _ in build(backend, replace(plan, shard=(number, 2)), state, workers=2):
            pass
        state.save(tmp_path / f"{number}.safetensors", "key")
        shards.append(AtlasState.load(tmp_path / f"{number}.safetensors")[0])
    shards[0].join(shards[1])
    build_atlas(backend, plan, tmp_path / "joined", shards[0])
    assert contents(tmp_path / "joined") == contents(tmp_path / "whole")


def test_a_state_of_another_run_is_refused(tmp_path: Path) -> None:
    AtlasState(1, 1).save(tmp_path / "state.safetensors", "one")
    with pytest.raises(UserError):
        resume(tmp_path, "other")
    (tmp_path / "state.safetensors").write_bytes(b"\0" * 40)
    with pytest.raises(UserError):
        resume(tmp_path, "one")


def test_a_pair_of_texts_has_three_stacks(backend: UncachedBackend, tmp_path: Path) -> None:
    file = tmp_path / "pairs.tsv"
    file.write_text("the cat was tired\tit crossed the street\nthe animal was it\ta cat saw\n", encoding="utf-8")
    plan = plan_for(backend, file, "t5")
    atlas = build_atlas(backend, plan, tmp_path / "atlas")
    assert set(atlas.manifest["stacks"]) == {"encoder", "decoder", "cross"}
    found = find_links(atlas, LinkQuery(part="cross"))
    trace = backend.backend.trace(
        TraceRequest(model=plan.model, text="the cat was tired", target="it crossed the street")
    )
    view = View(trace, part="cross")
    excess = excess_map(view.weights(0, 1), visible_word_pairs(view, 0, np.arange(len(view.queries))))
    mine = [hit for hit in hits(atlas, found) if (hit["text"], hit["layer"], hit["head"]) == (trace.text, 0, 1)]
    assert mine
    assert all(abs(excess[hit["query_position"], hit["key_position"]] - hit["excess"]) < 1e-5 for hit in mine)


def test_a_translator_without_translations_has_its_encoder(
    backend: UncachedBackend, file: Path, tmp_path: Path
) -> None:
    atlas = build_atlas(backend, plan_for(backend, file, "t5"), tmp_path / "atlas")
    assert set(atlas.manifest["stacks"]) == {"encoder"}


@loop_over("kind, content", (("deberta", "the cat was it"), ("bert", "the cat was it\ta cat")))
def test_models_that_cannot_be_read_are_refused(
    backend: UncachedBackend, tmp_path: Path, kind: str, content: str
) -> None:
    file = tmp_path / f"{kind}.tsv"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(UserError):
        create.create_atlas(backend, plan_for(backend, file, kind), tmp_path / f"atlas-{kind}")


def test_parts_of_speech_and_distances_limit_a_search(backend: UncachedBackend, tmp_path: Path) -> None:
    lines = [
        "1\tthe\t_\tDET\t_\t_\t2\tdet\t_\t_",
        "2\tplaying\t_\tNOUN\t_\t_\t3\tnsubj\t_\t_",
        "3\twas\t_\tVERB\t_\t_\t0\troot\t_\t_",
        "4\tit\t_\tPRON\t_\t_\t3\tobj\t_\t_",
        "",
        "",
    ]
    file = tmp_path / "trees.conllu"
    file.write_text("\n".join(lines), encoding="utf-8")
    atlas = build_atlas(backend, plan_for(backend, file, "bert"), tmp_path / "atlas")
    found = find_links(atlas, LinkQuery(query_tag="PRON", key_tag="noun"))
    assert {(hit["query_position"], hit["key_position"]) for hit in hits(atlas, found)} <= {(5, 2), (5, 3)}
    assert len(found)
    far = find_links(atlas, LinkQuery(query="it", nearest=3))
    assert {hit["key_position"] for hit in hits(atlas, far)} <= {0, 1, 2}
    assert find_links(atlas, LinkQuery(query="playing")).notes


@loop_over("content", (b"", b"   \n", b"\x89PNG\r\n", b"a\0b c", b"PAR1\x15broken"))
def test_hostile_files_are_refused_in_a_sentence(
    content: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "bad.txt"
    file.write_bytes(content)
    assert main(["atlas", "build", str(file), "--out", str(tmp_path / "atlas")]) == 2
    assert len(capsys.readouterr().err.strip().splitlines()) == 1


@loop_over("line", ("{", "[1]", '{"other": "a"}', '{"text": 3}'))
def test_rows_without_texts_are_refused(line: str, tmp_path: Path) -> None:
    file = tmp_path / "bad.jsonl"
    file.write_text(f'{{"text": "A good row."}}\n{line}\n', encoding="utf-8")
    with pytest.raises(UserError, match="2"):
        list(atlas_texts.read_texts([file]))


def test_texts_that_no_model_can_read_are_left_out(backend: UncachedBackend, tmp_path: Path) -> None:
    file = tmp_path / "texts.jsonl"
    file.write_text('{"text": "the cat was tired"}\n{"text": "a \\u0007 b"}\n{"text": "\\ud800"}\n', encoding="utf-8")
    state = AtlasState(10, 1)
    for _ in build(backend, plan_for(backend, file, "bert"), state):
        pass
    assert (len(state.windows), state.left_out) == (1, 2)
    assert state.reason


def everything(folder: Path) -> list[dict[str, Any]]:
    atlas = Atlas.open(folder)
    return hits(atlas, find_links(atlas, LinkQuery()))


@loop_over("name", ("atlas.json", "links.parquet", "windows.parquet"))
def test_a_damaged_atlas_is_refused(backend: UncachedBackend, file: Path, tmp_path: Path, name: str) -> None:
    folder = tmp_path / "atlas"
    build_atlas(backend, plan_for(backend, file, "bert", most=20), folder)
    (folder / name).write_bytes(b"damaged")
    with pytest.raises(UserError):
        everything(folder)


def test_unknown_words_and_heads_are_refused(backend: UncachedBackend, file: Path, tmp_path: Path) -> None:
    atlas = build_atlas(backend, plan_for(backend, file, "bert", most=20), tmp_path / "atlas")
    for query in (LinkQuery("zebra"), LinkQuery(head=(99, 0)), LinkQuery(part="cross"), LinkQuery(query_tag="NOUN")):
        with pytest.raises(UserError):
            find_links(atlas, query)


def test_csv_has_a_column_of_texts(tmp_path: Path) -> None:
    file = tmp_path / "texts.csv"
    file.write_text('id,text\n1,"a cat, tired\nand old"\n2,it,more\n', encoding="utf-8")
    assert [text.text for text in atlas_texts.read_texts([file])] == ["a cat, tired\nand old", "it"]
    file.write_text("id,words\n1,a cat\n", encoding="utf-8")
    with pytest.raises(UserError):
        list(atlas_texts.read_texts([file]))


def test_a_build_that_is_stopped_in_its_control_can_be_continued(
    backend: UncachedBackend, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_given: object) -> None:
        raise KeyboardInterrupt

    plan = plan_for(backend, file, "bert", most=20)
    with monkeypatch.context() as patch:
        patch.setattr(create, "control_state", interrupt)
        state, complete = create.create_atlas(backend, plan, tmp_path / "atlas")
    assert not complete
    assert not Atlas.open(tmp_path / "atlas").manifest["finished"]
    again, complete = create.create_atlas(backend, plan, tmp_path / "atlas", checks=False)
    assert complete
    assert again.tokens == state.tokens
    loaded = backend.backend.identity(plan.model)
    assert loaded.weights is not None
    assert Atlas.open(tmp_path / "atlas").manifest["weights_sha256"] == loaded.weights


def test_a_build_stopped_before_its_first_block_writes_nothing(
    backend: UncachedBackend, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_given: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("probing.atlas.build.build", interrupt)
    _state, complete = create.create_atlas(backend, plan_for(backend, file, "bert"), tmp_path / "atlas")
    assert not complete
    with pytest.raises(UserError):
        Atlas.open(tmp_path / "atlas")
