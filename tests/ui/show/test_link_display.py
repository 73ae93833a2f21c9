"""A scored link as chips: the whole sentence in order, with the competing weights."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from attention.annotations import AnnotatedText, Link
from probing.corpus import AnnotatedCorpus
from probing.results import ListedLink
from probing.score import RelationCounts
from ui.show.scored_links import COLUMNS, LinkScore, chips_of, links_table, title, weight
from ui.state.view_state import ViewState

TEXT = "So <b>Ann</b> saw Bo, as she left."
ANN, BO, SHE = (6, 9), (18, 20), (25, 28)
LINK = Link("coref", 2, 0, (1,))
ONE = ListedLink(AnnotatedText(TEXT, (ANN, BO, SHE), (LINK,), line=7), LINK, half=1, hit=False, by_rule=False)
WORTH = np.array([0.25, 0.5, np.nan], np.float32)


def test_the_sentence_is_there_whole_and_in_order() -> None:
    chips = chips_of(ONE, WORTH)
    assert [chip.text for chip in chips] == ["So", "<b>", "Ann", "</b>", "saw", "Bo", ",", "as", "she", "left."]
    assert "".join(chip.text for chip in chips) == TEXT.replace(" ", "")


def test_only_what_competes_has_a_number() -> None:
    told = {chip.text: (chip.shade, chip.label, chip.mark) for chip in chips_of(ONE, WORTH) if chip.label or chip.mark}
    assert told == {"Ann": (0.25, "0.25", "target"), "Bo": (0.5, "0.50", ""), "she": (None, "", "chosen")}


def test_a_miss_names_what_gets_more() -> None:
    assert title(ONE, WORTH, 0) == "Miss · line 7 · “she” gives “Ann” 0.25, “Bo” 0.50 · the rule misses it"


def test_small_weights_keep_the_digits_that_tell_them_apart() -> None:
    small = np.array([0.0312, 0.0309, np.nan])
    assert [weight(small, unit) for unit in (0, 1)] == ["0.0312", "0.0309"]


def test_the_file_states_which_links_had_no_part_in_the_choice() -> None:
    counts = RelationCounts.from_hits([(0, 0), (1, 0)], [0, 0], np.ones((2, 2, 1, 1), bool))
    corpus = AnnotatedCorpus("csv", (ONE.item,) * 2, ("source to target", "target to source"), "0" * 64)
    column = COLUMNS.index("half")
    for is_all_held_out, halves in ((False, ["held out", "selection"]), (True, ["held out", "held out"])):
        score = LinkScore(corpus, counts, "coref", (0, 0, 0), 0, is_all_held_out)
        rows = links_table(score, [ONE, replace(ONE, half=0)], ViewState())
        assert [row[column] for row in rows] == halves
        for row in rows:
            found = dict(zip(COLUMNS, row, strict=True))
            for end in ("source", "target"):
                assert str(found["text"])[int(str(found[f"{end} start"])) :].startswith(str(found[end]))
            others = [ONE.item.text[slice(*ONE.item.units[unit])] for unit in ONE.link.others or ()]
            assert found["other candidates"] == " | ".join(others)
