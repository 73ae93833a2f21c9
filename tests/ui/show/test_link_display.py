"""A scored link as chips: the whole sentence in order, with the competing weights."""

from __future__ import annotations

import numpy as np

from attention.annotations import AnnotatedText, Link
from probing.results import ListedLink
from ui.show.scored_links import chips_of, title, weight

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
