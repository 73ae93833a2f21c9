"""Download menus of figures: notebooks give the numbers that the figure shows, methods sentences every setting."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from attention.pictures import Picture
from inference import LocalBackend
from inference.files import sources
from inference.files.embedded import SMOLLM
from inference.task_heads import ANSWER, CLASSIFY, TAG
from inference.tasks.answers import BOTH, END, START
from inference.tasks.decoding import NextToken
from probing.labelled.labeled_texts import Kind
from tests.support import positionmodels, tinylabels, tinymodels, toldfolders
from tests.support.asking import allowed, asked
from tests.support.cases import loop_over
from tests.support.picturemodels import save_judge, sight
from tests.support.repository import ROOT
from tests.support.taughtfolders import put, taught_in
from ui.pages.explore.page import KEY as MEASURES
from ui.pages.generate.options import mark_of
from ui.pages.generate.whole_text import CONTROL, MAP, SINKS
from ui.pages.measure import heads as measure
from ui.pages.pictures.source import DIGITS, GIVEN
from ui.pages.positions import order
from ui.pages.vectors import projection, sentences
from ui.pages.vectors.umap_jobs import UmapWorker
from ui.pages.vectors.umap_worker import arrange
from ui.show import chart
from ui.show.why_head import KEY as WHY_HEAD
from viz.figures.theme import Figure
from viz.paper.chart_table import axis_names, figure_numbers
from viz.paper.notebook import Computation, computation_notebook, figure_methods

LENS, STEP = {"lens_map", "lens_curves"}, {"generate_map", "generate_most"}
NEXT = {"generate_bars", "generate_sums"}
DECODER = {
    "next": NEXT,
    "looks": STEP,
    "induction": {MAP, CONTROL},
    "sink": {SINKS},
    "layers": LENS,
}
# The figures of a model's own rotary angles, slopes and biases.
SCHEMES = {"llama": "rotary_scores", "bloom": "alibi_scores", "t5": "t5_scores"}
CONSTANT = {"neighbours_sinusoidal"}
CURVES, SHEETS = ("curves", "products", "neighbours"), {"sines", "own_table"}
RECORDED = ("accuracy", "gradient", "parts", "deep_parts", "times", "cost_figure", "steps_figure", "path_figure")
WHY = {f"why_{name}" for name in RECORDED}
PREDICTED = {"model": "headlight-bert", "text": "Paris is the [MASK] of France."}
ORDER = {f"order_{key}_{side}" for key in ("having", "lacking") for side in order.SIDES}
LONG = " ".join(["The animal didn't cross the street because it was too tired, so the children waited."] * 3)
LINES = "\n".join(f"{who} saw {what} dogs." for who in ("Ann", "Tom", "We", "They") for what in "abcdefghi")
BLANK = {"cause_all", "cause_bars_0", "cause_bars_1", "cause_random", "cause_later"}
ANSWERS = {f"patching_bars_{at}" for at in range(3)}
ENDS = (BOTH, START, END)
EXPLORE = {"entropy", "distance", "profile", "received"}
FIND = {"find_map_0", "find_map_1", "find_difference"}
# (view, address, figures whose menus offer a notebook)
CASES: list[tuple[str, dict[str, Any], set[str]]] = [
    (
        "cause",
        {"edits": "a3-1", "watch": "blank"},
        BLANK,
    ),
    ("cause", {"edits": "a3-1", "watch": "vector"}, {"cause_all", "cause_random", "cause_later"}),
    ("patching", {}, {"patching_states", "patching_heads"} | ANSWERS),
    ("patching", {"lent": "s1-4"}, {"patching_states", "patching_heads"} | ANSWERS),
    ("cause", {"watch": "vector", "curve": 1, "steps": 4}, {"cause_all", "cause_curve"}),
    ("cause", {"edits": "a3-1", "watch": "blank", "curve": 1, "steps": 3, "greedy": "most"}, BLANK | {"cause_curve"}),
    ("block", {"fold": "parameters,activation,cost"}, {"parameters", "activation", "cost_shares"}),
    ("patching", {"watch": "vector"}, {"patching_states", "patching_heads"}),
    ("agreement", {}, {"agreement_figure"}),
    ("similarity", {}, {"similarity_matrix"}),
    ("similarity", {"show": "removal"}, {"removal_Words of A", "removal_Words of B"}),
    ("similarity", {"show": "words"}, {"similarity_words_0", "similarity_words_1"}),
    ("similarity", {"show": "heads"}, {"similarity_heads"}),
    ("roles", {"relations": 0}, {"roles_map", "roles_likeness"}),
    ("roles", {"relations": 0, "source": "sentences"}, {"roles_map", "roles_likeness"}),
    ("compare", {}, {"compare_grid", "compare_row", "compare_maps"}),
    ("compare", {"words": 1, "layer": 2, "head": 1}, {"compare_grid", "compare_row", "compare_maps"}),
    ("compare", {"show": "set"}, {"compare_set_changed", "compare_set_control"}),
    ("measure", {"control": 0}, {"measure_scores", "measure_map"}),
    ("measure", {"data": "pronouns", "way": "out"}, {"measure_scores", "measure_map", "measure_random_map"}),
    *(("find", {"by": by}, FIND | {"find_change", "find_flips"}) for by in ("weight", "excess")),
    ("find", {"by": "excess", "inward": 1, "text": "Ann saw a small brown dog and it ran."}, FIND),
    ("generate", {}, {"generate_bars", "generate_sums"} if SMOLLM.is_installed() else {"generate_mask"}),
    ("next_sentence", {}, {"judged_bars", "flow_map"}),
    ("answers", {}, {"answers_attention_map"}),
    ("masked_words", {}, {"masked_bars"}),
    ("masked_words", {"show": "looks"}, {"blank_map"}),
    ("masked_words", {"show": "layers"}, {"lens_map", "lens_curves"}),
    ("masked_words", {"show": "words"}, {"words_bars"}),
    ("masked_words", {"show": "two"}, {"two_words"}),
    ("break_head", {}, {"break_head_map"}),
    ("head_atlas", {}, {"atlas_finder", "atlas_distances"}),
    ("atlas_search", {"query": "it"}, {"atlas_hits"}),
    ("head_atlas", {"x": "obj", "y": "entropy", "layer": 2, "head": 0}, {"atlas_finder", "atlas_distances"}),
    ("translate", {}, {"translate_matrix"}),
    ("translate", {"cross": "mean", "late": 1, "words": 1}, {"translate_matrix"}),
    ("translate", {"target": "Le chat dort."}, {"translate_matrix"}),
    ("translate", {"show": "step", "step": 1}, {"translate_candidates"}),
    ("translate", {"show": "without", "side": "decoder"}, {"translate_map", "translate_random"}),
    ("translate", {"show": "beams"}, {"translate_tree"}),
    ("translate", {"show": "beams", "way": "beam", "dropped": 1, "width": 2}, {"translate_tree"}),
    ("translate", {"show": "best"}, {"alignments_map", "alignments_late_map"}),
    ("tokens", {}, {"tokens_ladder"}),
    ("whole_pass", PREDICTED, {"whole_pass_stack", "pass_end"}),
    ("whole_pass", {"ends": "none"}, {"whole_pass_stack"}),
    ("whole_pass", {"zoom": "layer", "stage": 20}, {"whole_pass_layer"}),
    ("whole_pass", {"zoom": "stage", "stage": 20}, {"whole_pass_stage"}),
    ("whole_pass", {**PREDICTED, "zoom": "stage"}, {"whole_pass_stage"}),
    (
        "whole_pass",
        {**PREDICTED, "zoom": "stage", "stage": 20, "change": "token"},
        {"whole_pass_stage", "pass_before", "pass_after"},
    ),
    ("why_attention", {"n": 40}, WHY),
    ("why_attention", {"task": "parity", "when": "before"}, WHY),
    ("vectors", {}, {"vectors_cosine", "vectors_picture"}),
    ("vectors", {"axes": 3}, {"vectors_cosine", "vectors_picture"}),
    ("vectors", {"show": "contexts"}, {"vectors_contexts"}),
    ("vectors", {"show": "sentences"}, {"vectors_sentences", "vectors_picture"}),
    ("positions", {}, {"order_heads"} | ORDER),
    ("positions", {"mix": "swap", "words": 1, "layer": 1, "head": 2, "special": 0}, {"order_heads"} | ORDER),
    ("positions", {"show": "vectors"}, {f"{key}_{name}" for key in CURVES for name in ("own", "sinusoidal")} | SHEETS),
    ("positions", {"show": "shift"}, {"shift_matrix"}),
    ("positions", {"show": "distance", "head": 3}, {"rotary_scores", "alibi_scores", "t5_buckets"}),
]

# Figures in folded sections, and the keys of the sections
SECTIONS = {
    "atlas_distances": "atlas_distances_open",
    "break_head_map": "break_head_others",
    "order_heads": "order_sensitivity",
    "why_accuracy": "why_recorded",
}

# The modules that import ``draw_notebook_menu``.
MENUS = [
    import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
    for path in sorted((ROOT / "ui").rglob("*.py"))
    if path != Path(chart.__file__) and "draw_notebook_menu" in path.read_text(encoding="utf-8")
]
Numbers = npt.NDArray[np.float64]
Offered = dict[str, tuple[Numbers, Computation]]


def offered(
    monkeypatch: pytest.MonkeyPatch, view: str, query: dict[str, Any], section: str = "", button: str = "", **state: Any
) -> Offered:
    """Return the numbers and the computations of the figures of a view that have a computation.

    ``section`` is the key of a folded section to open, ``button`` the key of a button to press, and ``state`` are
    values of the session.
    """
    found: Offered = {}

    def keep(figure: Figure, key: str, _about: object, computation: Computation | None, _test: str) -> None:
        if computation is not None:
            found[key] = figure_numbers(figure), computation

    def keep_matrix(
        _title: str,
        key: str,
        numbers: Callable[[], Numbers],
        _about: object,
        computation: Callable[[], Computation | None],
    ) -> None:
        if (code := computation()) is not None:
            found[key] = np.ravel(numbers()), code

    for module in (sentences, projection):
        monkeypatch.setattr(module, "PATIENCE", 600)
    monkeypatch.setattr(chart, "_draw_menu", keep)
    for module in MENUS:
        monkeypatch.setattr(module, "draw_notebook_menu", keep_matrix)
    page = asked(view, **query)
    for key, value in (state | ({section: True} if section else {})).items():
        page.session_state[key] = value
        page.run()
    if button:
        page.button(key=button).click().run()
    assert not page.exception
    return found


def executed(notebook: bytes) -> Any:
    """Return the variable ``numbers`` after the cells of a notebook."""
    names: dict[str, Any] = {}
    for cell in json.loads(notebook)["cells"]:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), names)
    return names["numbers"]


@pytest.mark.slow
@pytest.mark.parametrize(("view", "query", "keys"), CASES, ids=[f"{view}-{at}" for at, (view, *_) in enumerate(CASES)])
def test_a_notebook_gives_the_numbers_of_its_figure(
    monkeypatch: pytest.MonkeyPatch, view: str, query: dict[str, Any], keys: set[str]
) -> None:
    sections: dict[str, Any] = {SECTIONS[key]: True for key in sorted(keys & SECTIONS.keys())}
    compare(offered(monkeypatch, view, query, **sections), keys)


WIDE = "The animal didn't cross the street because it was too wide."
LINK = {"layer": 3, "head": 1, "focus": 10, "to": 2}
# (view, address, section to open, figure, parts of its methods sentences)
METHODS: list[tuple[str, dict[str, Any], str, str, tuple[str, ...]]] = [
    (
        "explore",
        LINK,
        WHY_HEAD,
        "why_key",
        ("head: 3-1", "query word: it", "key word: animal", f"second text “{WIDE}”"),
    ),
    ("explore", {**LINK, "words": 1}, MEASURES, "received", ("head: 3-1", "words merged: yes", "tokens read: 16")),
    (
        "cause",
        {"edits": "a5-11,a3-1,c3-1-11-2"},
        "",
        "cause_random",
        (
            "ablated heads: 3-1, 5-11",
            "3-1: 11 “was” → 2 “animal”",
            "sentence vector",
            "random edits: 100",
            "Of 100 random",
        ),
    ),
    (
        "cause",
        {"edits": "h2-4", "watch": "blank"},
        "",
        "cause_bars_1",
        ("[MASK] was", "4 “'” in layers 2", "log-odds of “"),
    ),
    ("patching", {}, "", "patching_heads", (f"second text “{WIDE}”", "it (characters 43 to 45)", "log-odds of “")),
    ("patching", {"lent": "s3-13"}, "", "patching_bars_1", ("word 13 “tired → wide” at the input of layer 3",)),
    ("agreement", {}, "", "agreement_figure", ("vector of “it” (token 10", "words: 11", "integration steps: 32")),
    ("measure", {"control": 0, "relation": "det"}, "", "measure_map", ("relation: det", "links: 89", "of 72 heads")),
    (
        "why_attention",
        {},
        "why_recorded",
        "why_accuracy",
        ("task “recall”", "800 steps of 64 texts, seeds 0, 1, 2", "256 unseen texts per distance", "Guessing: 0.125"),
    ),
    ("compare", {"show": "set"}, "", "compare_set_changed", ("76 pairs", "n = 17 independent texts", "(n = 17, ")),
    ("compare", {"show": "set"}, "", "compare_set_control", ("76 pairs", "n = 17 independent texts", "(n = 17, ")),
    (
        "find",
        {"by": "excess"},
        "",
        "find_flips",
        (f"second text “{WIDE}”", "“it” (token 10)", "“animal”", "“street”", "prior)", "difference: 1.0", "Chance: "),
    ),
    (
        "find",
        {"by": "weight", "inward": 1},
        "",
        "find_map_0",
        ("from each candidate to the source", "strength: weight;"),
    ),
    (
        "similarity",
        {"other": "The dog sat."},
        "",
        "similarity_matrix",
        ("second text “The dog sat.”", "pooling: mean; cosine: 0.5"),
    ),
    ("translate", {"show": "without", "side": "decoder"}, "", "translate_map", ("target “L", "stack: decoder")),
    ("translate", {"show": "best"}, "", "alignments_map", ("52 sentence pairs with gold alignments (SHA-256",)),
    ("vectors", {}, "", "vectors_picture", ("“The animal", "vectors: last layer", "PCA, 2 axes")),
    ("vectors", {"show": "sentences"}, "", "vectors_sentences", ("8 sentences (SHA-256", "tokens: mean")),
    ("positions", {}, "", "order_lacking_moved", ("token order: 0 3", "positions: no; head: 0-2")),
    (
        "whole_pass",
        {"zoom": "stage", "stage": 30, "row": 1, "column": 2, "change": "number", "becomes": "1"},
        "",
        "pass_after",
        ("changed stage: 54 (encoder, layer ", "); row: 1; column: 2; new value: 1.0", "task head: masked"),
    ),
    (
        "whole_pass",
        PREDICTED,
        "",
        "pass_end",
        ("tokens read: 9; task head: masked; stage: ", "(encoder, probabilities: softmax); output row: 4"),
    ),
    ("whole_pass", {}, "", "whole_pass_stack", (" (embeddings; parts: last stage", "measure: RMS per token")),
    (
        "whole_pass",
        {"zoom": "layer", "stage": 20},
        "",
        "whole_pass_layer",
        (" (encoder, layer ", "measure: RMS"),
    ),
    (
        "whole_pass",
        {"zoom": "stage", "stage": 20},
        "",
        "whole_pass_stage",
        ("stage: ", " (encoder, layer ", "module: ", "shape: ", "rows: 0 to 15 of 16; columns: 128 to 383 of 384"),
    ),
    (
        "whole_pass",
        {**PREDICTED, "zoom": "stage"},
        "",
        "whole_pass_stage",
        ("probabilities: softmax)", "columns: the 12 largest of row 4, of 30522"),
    ),
    ("masked_words", {"show": "words"}, "", "words_bars", ("[MASK]", "blank: 1 of 1; predicted token: ")),
    (
        "masked_words",
        {"show": "looks", "to": 2},
        "",
        "blank_map",
        ("[MASK]", "blank: 1 of 1; query: ", " “[MASK]”; key: 2 “animal”"),
    ),
    (
        "masked_words",
        {"show": "layers"},
        "",
        "lens_map",
        ("blank: 1 of 1; token: ", " “[MASK]”; lens: logit lens (output head on the embedding", "of 6 layers)"),
    ),
    ("masked_words", {"show": "layers"}, "", "lens_curves", ("[MASK]", "layers); followed tokens: “")),
    (
        "break_head",
        {"layer": 3, "head": 1},
        SECTIONS["break_head_map"],
        "break_head_map",
        (
            "claim: the head links pronouns to nouns; tested head: 3-1; pronoun: it (characters 43 to 45)",
            "right noun: animal (characters 4 to 10); other noun: street",
            "outcome: correct if the right noun's weight is larger by over 0.01",
            "variants: 0",
        ),
    ),
    ("why_attention", {}, "", "why_cost_figure", ("; computed with", "d: 384; k: 3; r: 64")),
    ("head_atlas", {}, "", "atlas_finder", ("Distance (tokens) · Mean peak excess", "SHA-256: en_ewt", "CC BY-SA")),
]


# (address, figure, parts of its methods sentences) for text generation by a tiny decoder
DECODER_METHODS: list[tuple[dict[str, Any], str, tuple[str, ...]]] = [
    (
        {"temperature": 150, "top_k": 5, "top_p": 90, "seed": 7},
        "generate_bars",
        ("temperature: 1.5; top k: 5; top p: 0.9; random seed: 7; drawn token: “",),
    ),
    ({}, "generate_sums", ("temperature: 1; top k: all; top p: 1;",)),
    (
        {"show": "looks", "cell": "reach"},
        "generate_map",
        ("query: 4 “", "measure: mean distance in tokens, the first"),
    ),
    (
        {"show": "looks", "layer": 1, "head": 0, "first": 0},
        "generate_most",
        ("query: ", "head: 1-0; first token: excluded"),
    ),
    ({"show": "layers"}, "lens_map", ("query: 4 “", "lens: logit lens (final norm and output head on")),
    (
        {"show": "sink"},
        "sink_map",
        ("queries: later tokens that are not special, at most 256; key: 0 “",),
    ),
]


@pytest.mark.slow
@loop_over("query, key, parts", DECODER_METHODS)
def test_the_methods_of_a_decoder_state_every_setting(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, query: dict[str, Any], key: str, parts: tuple[str, ...]
) -> None:
    tinymodels.save(tmp_path / "gpt2", "gpt2")
    with allowed(tmp_path):
        request = NextToken(str(tmp_path / "gpt2"), text="The cat sat")
        given = {"model": request.model, "text": request.text, "written": "5.6", "of": mark_of(request), **query}
        found = methods(monkeypatch, "generate", given, "")
    for part in ("“The cat sat”", "written tokens: 5 · 6; written text: “", "tokens read: 5;", *parts):
        assert part in found[key]


@pytest.mark.slow
@loop_over("view, query, section, key, parts", METHODS)
def test_the_methods_state_every_setting_of_a_figure(  # noqa: PLR0913  (the parts of a case)
    monkeypatch: pytest.MonkeyPatch,
    view: str,
    query: dict[str, Any],
    section: str,
    key: str,
    parts: tuple[str, ...],
) -> None:
    found = methods(monkeypatch, view, query, section)
    for part in parts:
        assert part in found[key]


def methods(monkeypatch: pytest.MonkeyPatch, view: str, query: dict[str, Any], section: str) -> dict[str, str]:
    """Return the methods sentences of the figures of a view by their keys; ``section`` is a folded section to open."""
    found: dict[str, str] = {}

    def write(figure: Figure, key: str, about: chart.About, _computation: object, test: str) -> None:
        found[key] = figure_methods("", {**about(), "axes": axis_names(figure)}, test)

    def write_matrix(title: str, key: str, _numbers: object, about: chart.About, _computation: object) -> None:
        found[key] = figure_methods(title, about(), "")

    monkeypatch.setattr(chart, "_draw_menu", write)
    for module in MENUS:
        monkeypatch.setattr(module, "draw_notebook_menu", write_matrix)
    page = asked(view, **query)
    if section:
        page.session_state[section] = True
        page.run()
    assert not page.exception
    return found


@pytest.mark.slow
def test_a_notebook_gives_the_sources_of_a_head_s_scores(monkeypatch: pytest.MonkeyPatch) -> None:
    found = offered(monkeypatch, "measure", {"control": 0, "data": "pronouns"}, "measure_sources")
    compare(found, {"measure_scores", "measure_map", "measure_sources_query", "measure_sources_key"})


@pytest.mark.slow
def test_a_stopped_random_run_leaves_the_model_s_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measure, "finished_state", lambda run: not run.control)
    found = offered(monkeypatch, "measure", {"data": "pronouns"})
    compare(found, {"measure_map"})
    assert "[False]" in found["measure_map"][1].code


@pytest.mark.slow
def test_a_notebook_gives_the_numbers_of_an_atlas_ablation(monkeypatch: pytest.MonkeyPatch) -> None:
    found = offered(monkeypatch, "head_atlas", {"layer": 2, "head": 0}, "atlas_ablation")
    compare(found, {"atlas_finder", "atlas_ablation_bars"})


@pytest.mark.slow
def test_a_notebook_gives_the_numbers_of_a_tree_of_tokens(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    tinymodels.save(tmp_path / "gpt2", "gpt2")
    with allowed(tmp_path):
        query = {"model": tmp_path / "gpt2", "text": "The cat sat on the mat", "more": 4, "pick": "drawn"}
        found = offered(monkeypatch, "generate", query, button="generate_write_more")
        compare(found, {"generate_tree"} | NEXT)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*Cannot cache compiled", "ignore:Tensorflow not installed")
@pytest.mark.parametrize(
    ("query", "keys"),
    [
        ({"words": 0, "axes": 3, "text": LONG}, {"vectors_cosine", "vectors_picture"}),
        ({"show": "sentences", "lines": LINES}, {"vectors_sentences", "vectors_picture"}),
    ],
)
def test_a_notebook_gives_the_points_of_umap(
    monkeypatch: pytest.MonkeyPatch, query: dict[str, Any], keys: set[str]
) -> None:
    # Without a process of its own, UMAP is compiled once, and its lower priority cannot outlast a wait.
    monkeypatch.setattr(UmapWorker, "ask", lambda _worker, message, _job: {"points": arrange(**message)})
    compare(offered(monkeypatch, "vectors", {"flat": "umap", **query}), keys)


@pytest.mark.slow
def test_a_notebook_gives_the_numbers_of_a_folded_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    found = offered(monkeypatch, "vectors", {"words": 1}, "vectors_numbers")
    compare(found, {"vectors_cosine", "vectors_picture", "vectors_strips"})


@pytest.mark.slow
@pytest.mark.parametrize(("section", "keys"), [(MEASURES, EXPLORE), (WHY_HEAD, {"why_query", "why_key"})])
@pytest.mark.parametrize("query", [{}, {"text": "Ann saw a dog and it ran.", "layer": 1, "head": 2, "words": 1}])
def test_a_notebook_gives_the_numbers_of_a_folded_figure(
    monkeypatch: pytest.MonkeyPatch, section: str, keys: set[str], query: dict[str, Any]
) -> None:
    compare(offered(monkeypatch, "explore", {"focus": 4, "to": 5, **query}, section), keys)


@pytest.mark.slow
def test_a_notebook_of_a_decoder_gives_the_numbers_of_its_figure(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    tinymodels.save(tmp_path / "gpt2", "gpt2")
    with allowed(tmp_path):
        query = {"model": tmp_path / "gpt2", "text": "The cat sat on the mat, and the dog"}
        for show, keys in DECODER.items():
            compare(offered(monkeypatch, "generate", {**query, "show": show}), keys)


@pytest.mark.slow
@pytest.mark.parametrize("name", SCHEMES)
def test_a_notebook_of_positions_gives_the_model_s_own(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str
) -> None:
    positionmodels.save(tmp_path / name, name)
    with allowed(tmp_path):
        query = {"model": tmp_path / name, "text": "The cat sat on the mat.", "show": "distance", "layer": 1, "head": 1}
        found = offered(monkeypatch, "positions", query)
        compare({key: shown for key, shown in found.items() if key == SCHEMES[name]}, {SCHEMES[name]})


@pytest.mark.slow
def test_a_notebook_of_an_answer_gives_the_numbers_of_its_figure(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    tinylabels.save(tmp_path / "tiny", "BERT", ANSWER, ("start", "end"))
    with allowed(tmp_path):
        query = {"model": tmp_path / "tiny", "text": "who played", "pair": "the animal was a cat and it played"}
        for ends in ENDS:
            found = offered(monkeypatch, "answers", {**query, "ends": ends})
            compare(found, {"answers_bars", "answers_attention_map", "answers_heads_map"})


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["classify", "tag"])
def test_a_notebook_gives_the_numbers_of_a_fine_tuned_model(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, kind: Kind
) -> None:
    with taught_in(tmp_path):
        job = put(tmp_path, "done", kind=kind)
        folder = tmp_path / job.id / sources.MODEL
        if kind == "classify":
            toldfolders.drawn(folder, classes=30, rows=90, right=0.7)
        else:
            toldfolders.words(folder, [("Ann met Bo", "B-PER O B-PER", "B-PER O B-LOC", (0.99, 0.8, 0.6))])
        tinylabels.save(folder, "BERT", CLASSIFY if kind == "classify" else TAG, ("O", "B-PER", "B-LOC"))
        found = offered(monkeypatch, "teach", {"job": job.id, "show": "try", "sentence": "the animal was a cat"})
        compare(found, {"teach_labels", "teach_heads"})
        (tmp_path / job.slug).symlink_to(folder)
        monkeypatch.chdir(tmp_path)
        found = offered(monkeypatch, "teach", {"job": job.id, "show": "results"})
        compare(found, {"teach_confusion", "teach_sureness"})


# (address, figures whose menus offer a notebook, key of the button that starts the computation)
RECORDED_SAMPLE: list[tuple[dict[str, Any], set[str], str]] = [  # the recorded sample is enough for these
    ({}, {"picture"}, ""),
    ({"facing": "in", "by": "norms", "layer": 1, "head": 1, "token": 2}, {"picture"}, ""),
    ({"by": "rollout", "token": 1}, {"picture"}, ""),
    ({"show": "links", "region_a": "0-0-0-1", "region_b": "1-0-1-1"}, {"picture_links"}, ""),
    ({"show": "roles"}, {"picture_roles"}, ""),
]
PICTURED = [
    *RECORDED_SAMPLE,
    ({"show": "says"}, {"picture_says"}, ""),
    ({"show": "without", "watch": "vector"}, {"picture_causes"}, "picture_wants_heads_button"),
    ({"show": "without", "edits": "a1-1"}, {"picture_chance"}, "picture_wants_chance_button"),
    ({"show": "without", "watch": "class"}, {"picture_causes"}, "picture_wants_heads_button"),
]


@pytest.mark.slow
def test_a_notebook_of_a_picture_gives_the_numbers_of_its_figure(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    save_judge(sight("ViT"), tmp_path / "vit", {0: "cat", 1: "dog"})
    upload = Picture(np.random.default_rng(1).integers(0, 256, (40, 60, 3), np.uint8))
    uploaded: tuple[dict[str, Any], dict[str, Any]] = {"given": upload.key[:DIGITS]}, {GIVEN: upload}
    with allowed(tmp_path):
        for query, keys, button in PICTURED:
            for given, state in (({}, {}), uploaded):
                query = {"vision": tmp_path / "vit", **query, **given}
                found = offered(monkeypatch, "pictures", query, button=button, **state)
                assert all(("content" in computation.names) == bool(state) for _shown, computation in found.values())
                compare(found, keys)
    for query, keys, _button in RECORDED_SAMPLE:
        compare(offered(monkeypatch, "pictures", query), keys)


def compare(found: Offered, keys: set[str]) -> None:
    """Assert that the figures with these keys have notebooks that give their numbers."""
    assert set(found) == keys
    for key, (shown, computation) in found.items():
        numbers = np.ravel(executed(computation_notebook(computation, LocalBackend, "", shown)))
        np.testing.assert_allclose(numbers, shown, atol=1e-4, err_msg=key)
        assert key in CONSTANT or np.ptp(shown[np.isfinite(shown)]) > 0, key
