"""Scores of the embedded models as their evaluation files have them; none for other models or broken files."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import pytest

from inference.catalogue.listing import OWN_CARDS
from inference.catalogue.published_scores import (
    MaskedAccuracy,
    PronounHead,
    PublishedBleu,
    WeakRelation,
    compare_encoders,
    masked_accuracy,
    translation_scores,
)
from inference.files.embedded import BERT, TRANSLATOR, own_here
from inference.request import EMBEDDED
from tests.support.present import present
from ui.show import published_bert
from ui.show.scored_links import describe_relation


def scores(**changes: Any) -> Any:
    one = {"sentences": 30, "references": 60, "bleu": 31.5, "chrf": 52.25, "bleu_signature": "x"}
    found = {group: dict.fromkeys(("greedy", "beams", "copy"), one) for group in ("all", "short", "long")}
    found["all"] = {**found["all"], "copy": {**one, "bleu": 2.5, "chrf": 19}}
    return {"scores": {**found, **changes}}


def put(folder: Path, text: Any) -> None:
    (folder / TRANSLATOR).mkdir()
    (folder / TRANSLATOR / "evaluation.json").write_text(text, encoding="utf-8")


def test_the_figures_are_the_file_s(tmp_path: Path) -> None:
    put(tmp_path, json.dumps(scores()))
    found = translation_scores(TRANSLATOR, tmp_path)
    assert found is not None
    assert found.greedy == found.beams == found.short == PublishedBleu(30, 31.5, 52.25)
    assert found.copied == PublishedBleu(30, 2.5, 19.0)
    assert translation_scores("t5-small", tmp_path) is None


def odd(**figures: Any) -> str:
    """Return a scores file with changed figures in a single group."""
    one = {"sentences": 30, "bleu": 31.5, "chrf": 52.25, **figures}
    return json.dumps(scores(long={"greedy": one}))


BROKEN = ["", "{}", "[]", '{"scores": 3}', "[" * 100_000, json.dumps(scores(long=None)), odd(bleu=math.nan),
          odd(chrf=math.inf), odd(sentences=math.inf), odd(sentences="many")]  # fmt: skip


def test_what_is_changed_in_broken_files_is_read_otherwise(tmp_path: Path) -> None:
    put(tmp_path, odd())
    assert translation_scores(TRANSLATOR, tmp_path)


@pytest.mark.parametrize("text", BROKEN, ids=range(len(BROKEN)))
def test_a_broken_file_gives_nothing(tmp_path: Path, text: Any) -> None:
    put(tmp_path, text)
    assert translation_scores(TRANSLATOR, tmp_path) is None


def test_no_file_gives_nothing(tmp_path: Path) -> None:
    assert translation_scores(TRANSLATOR, tmp_path) is None


ONE = {"masked": 30, "top1": 0.5, "top5": 0.8, "baseline_top1": 0.1, "baseline_top5": 0.2, "pairs": 10,
       "next_sentence": 0.9}  # fmt: skip
OTHER = {"masked": 10, "top1": 0.1, "top5": 0.4, "baseline_top1": 0.1, "baseline_top5": 0.6, "pairs": 30,
         "next_sentence": 0.5}  # fmt: skip


SLIDE = {"layer": 5, "head": 11, "weight": 0.43, "watched": {"3-1": 0.39}}
UD = {
    "all": {BERT: "2-1 40.0", EMBEDDED: "2-1 90.0", "n": 20},
    "obj": {BERT: "2-0: 74.6", EMBEDDED: "2-0 74.0", "n": 12},
    "xcomp": {BERT: "2-0: 63.5", EMBEDDED: "1-6: 73", "n": 3},
    "alone": {BERT: "2-0: 3.5", "n": 3},
}
GAP = {BERT: "3-1 3.0", EMBEDDED: "3-1 73.5", "nearest name": "56.6", "n": 39}


def put_bert(folder: Path, further: Any = None, slide: Any = None, **changes: Any) -> None:
    (folder / BERT).mkdir()
    more = {name: given for name, given in (("further", further), ("slide", slide)) if given is not None}
    text = json.dumps({"sources": {"one": ONE, "other": {**OTHER, **changes}}, **more})
    (folder / BERT / "evaluation.json").write_text(text, encoding="utf-8")


def test_guesses_are_counted_over_all_held_out_texts(tmp_path: Path) -> None:
    put_bert(tmp_path)
    found = masked_accuracy(BERT, tmp_path)
    shares: Any = (pytest.approx(share) for share in (0.4, 0.7, 0.1, 0.3, 0.6))
    first, second, third, fourth, fifth = shares
    assert found == MaskedAccuracy(40, first, second, third, fourth, 40, fifth)
    assert masked_accuracy(TRANSLATOR, tmp_path) is None


def test_what_its_heads_show_is_the_file_s(tmp_path: Path) -> None:
    put_bert(tmp_path, {"UD": UD, "GAP": GAP}, SLIDE)
    found = present(masked_accuracy(BERT, tmp_path))
    points: Any = pytest.approx(9.5)
    assert (found.tired, found.behind) == (PronounHead(5, 11, 0.43), WeakRelation("xcomp", points))
    sentence = published_bert.describe_known_heads(found)
    assert re.findall(r"\d+-\d+|\d+%|\d+\.\d+", sentence) == ["5-11", "43%", "9.5"]
    assert describe_relation("xcomp") in sentence


@pytest.mark.parametrize(
    ("further", "compared"),
    [(None, False), ({"GAP": GAP}, False), ({"UD": {"obj": UD["obj"]}}, True)],
)
def test_a_comparison_needs_scores_of_relations_in_the_file(tmp_path: Path, further: Any, compared: bool) -> None:
    put_bert(tmp_path, further, SLIDE)
    sentence = published_bert.describe_known_heads(present(masked_accuracy(BERT, tmp_path)))
    assert re.findall(r"\d+%|\d+\.\d+", sentence) == ["43%"]
    assert ("MiniLM" in sentence) == compared


@pytest.mark.skipif(not own_here(BERT), reason="the BERT that was trained here is not there")
def test_the_embedded_models_own_file_says_all_of_it() -> None:
    found = masked_accuracy(BERT)
    assert found is not None
    assert found.tired is not None
    assert found.behind is not None


@pytest.mark.parametrize(
    "changes",
    [
        {"top1": math.nan}, {"masked": -30}, {"pairs": "many"}, {"top5": None}, {"slide": []}, {"slide": 3},
        {"slide": {**SLIDE, "weight": math.nan}}, {"slide": {**SLIDE, "layer": "first"}}, {"further": []},
        {"further": {"UD": 3}}, {"further": {"UD": {"obj": {BERT: "2-0", EMBEDDED: "2-0 3.0"}}}},
        {"further": {"UD": {"obj": {BERT: 74.6, EMBEDDED: "2-0 3.0"}}}},
        {"further": {"UD": {"obj": {BERT: "2-0 " + "9" * 400, EMBEDDED: "2-0 3.0"}}}},
    ],
)  # fmt: skip
def test_broken_figures_of_guesses_give_nothing(tmp_path: Path, changes: Any) -> None:
    put_bert(tmp_path, **changes)
    assert masked_accuracy(BERT, tmp_path) is None


def test_the_comparison_counts_clear_deficits_and_states_gap(tmp_path: Path) -> None:
    further = {"UD": {**UD, "det": {BERT: "2-8: 76.5", EMBEDDED: "2-8: 80.6"}}, "GAP": GAP}
    put_bert(tmp_path, further)
    found = compare_encoders(tmp_path)
    assert found is not None
    assert list(found.behind) == pytest.approx([4.1, 9.5])
    assert (found.relations, found.gap) == (3, (3.0, 73.5)), "the row of one model and the row of all do not count"
    (tmp_path / BERT / "evaluation.json").write_text('{"further": {}}')
    assert compare_encoders(tmp_path) is None


def test_the_card_of_bert_states_its_scores() -> None:
    found = compare_encoders()
    assert found is not None
    assert (len(found.behind), found.relations, found.gap) == (4, 8, (73.7, 73.5))
    summary = next(card.summary for card in OWN_CARDS if card.id == BERT)
    assert all(f"{number:.1f}" in summary for number in (found.behind[0], found.behind[-1], *found.gap))
