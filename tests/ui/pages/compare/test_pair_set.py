"""Sets of pairs on the page "Side by side": numbers of the model, files, and messages."""

from __future__ import annotations

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from attention.comparison import AlignedViews, changes, same_heads
from attention.view import View
from inference import EMBEDDED, LocalBackend, TraceRequest
from probing.text_pairs import TextPair, compare_with_control
from tests.support.asking import asked, notes, says, stands
from tests.support.cases import loop_over
from tests.support.savedfiles import SavedBytes, parts, text_of
from ui.pages.compare.pair_set import READY, pairs_csv
from ui.pages.compare.pair_set_result import PairSet, describe_pair_set
from ui.show.text import TOO_FEW, format_small

TIRED = "The animal didn't cross the street because it was too tired."
WIDE, SO = TIRED.replace("tired", "wide"), TIRED.replace("too", "so")
HEADER = "a,b,kind\n"


def brought(content: str | bytes, **query: object) -> AppTest:
    """Return the page after the upload of a file of pairs."""
    page = asked("compare", model=EMBEDDED, show="set", bring="file", **query)
    data = content.encode() if isinstance(content, str) else content
    return page.file_uploader(key="compare_file").set_value(("pairs.csv", data, "text/csv")).run()


def bits(one: str, other: str, *, shared: bool = False) -> np.ndarray:
    left, right = (View(trace) for trace in LocalBackend().traces([TraceRequest(text=text) for text in (one, other)]))
    heads = same_heads(left, right)
    assert heads is not None
    aligned = AlignedViews.align(left, right)
    return changes(aligned.shared_words() if shared else aligned, heads).bits


def told(page: AppTest) -> list[str]:
    """Return the notes of the set about all heads and about a single head."""
    return [sentence for sentence in notes(page) if "heads" in sentence or sentence.startswith("Head ")]


@pytest.mark.slow
def test_two_pairs_have_the_mean_of_the_model_s_own_numbers() -> None:
    page = brought(f"{HEADER}{TIRED},{WIDE},change\n{TIRED},{SO},control\n", layer=3, head=1)
    change, control = bits(TIRED, WIDE), bits(TIRED, SO)
    one, other = (format_small(float(found[3, 1])) for found in (change, control))
    says(page, f"Head 3-1: change {one} bits, control {other} bits")
    layer, head = np.unravel_index(int((change - control).argmax()), change.shape)
    says(page, "1 changes, 1 controls")
    says(page, "0 of 72 heads")
    says(page, f"{layer}-{head}: ")
    says(page, TOO_FEW)
    assert not any("interval" in note for note in notes(page))
    stands(page)


@pytest.mark.slow
@pytest.mark.parametrize("show", ["set", "pair"])
def test_replaced_words_are_left_out_of_the_change(show: str) -> None:
    change = bits(TIRED, WIDE, shared=True)
    assert change[0].max() < 1e-6  # in layer 0, only the embedding of the replaced word differs
    assert change[1:].min() > 1e-6
    if show == "set":
        page = brought(f"{HEADER}{TIRED},{WIDE},change\n", layer=3, head=1, shared=1)
        says(page, f"{format_small(float(change[3, 1]))} bits")
        (link,) = [link.proto.query_string for link in page.get("page_link") if "other=" in link.proto.query_string]
        assert "shared=1" in link
    else:
        page = asked("compare", model=EMBEDDED, text=TIRED, other=WIDE, layer=3, head=1, shared=1)
        most = np.unravel_index(int(change.argmax()), change.shape)
        says(page, f"head {most[0]}-{most[1]} of 72 changes most: {format_small(float(change.max()))} bits")
        says(page, "“tired”, “wide”")  # are named as words that are not compared
    stands(page)


@pytest.mark.slow
@pytest.mark.parametrize("differs", ["text", "edit"])
def test_only_texts_with_replaced_words_state_that_these_are_left_out(differs: str, saved_bytes: SavedBytes) -> None:
    page = asked("compare", model=EMBEDDED, text=TIRED, other=WIDE, differs=differs, edits="a0-1", shared=1)
    _table, provenance = parts(saved_bytes(page, "Save all heads"))
    assert (provenance.get("replaced_words") == "left out") is (differs == "text")
    assert ("replaced words" in text_of(saved_bytes(page, "Save as HTML"))) is (differs == "text")


@pytest.mark.slow
def test_the_ready_pairs_are_told_and_each_opens_in_a_link(saved_bytes: SavedBytes) -> None:
    page = asked("compare", model=EMBEDDED, show="set", layer=5, head=4)
    says(page, " (0-9, 0-0, 2-7), 0 less (")
    says(page, "3 of 72 heads")
    says(page, "58 controls")
    says(page, "0-9: ")
    says(page, "n = 17 independent texts")
    says(page, "(n = 17, corrected p = 0.0")
    assert any("rows scaled to the compared words" in caption.value for caption in page.caption)
    says(page, "95% interval")
    says(page, "differ in 1.9 words")
    says(page, "controls in 1.0")
    says(page, "(n = 7 texts)")
    assert not any(TOO_FEW in note for note in notes(page))  # with several controls a text, 17 and 7 texts are enough
    links = [link.proto.query_string for link in page.get("page_link")]
    assert sum("differs=text" in link and "layer=5&head=4" in link for link in links) == 6
    _table, provenance = parts(saved_bytes(page, "Save all heads"))
    assert (provenance["permuted"], float(provenance["p_floor_uncorrected"])) == ("within groups", 1e-12)
    stands(page)


@pytest.mark.parametrize("larger", ["change", "control", "neither"])
def test_numbers_of_words_explain_only_a_difference_of_the_same_direction(larger: str) -> None:
    """Changes differ in two words and controls in one, so only larger changes can be due to the number of words."""
    texts = [f"text {at}" for at in range(14)]
    pairs = [pair for text in texts for pair in (TextPair(text, f"{text} a b"), TextPair(text, f"{text} a", True))]
    control = np.array([pair.control for pair in pairs])
    values = np.random.default_rng(0).uniform(0.1, 0.2, (28, 3))
    values[control == (larger == "control")] += 0.2 * (larger != "neither")
    across = compare_with_control(values, control, np.repeat(np.arange(14), 2))
    found = PairSet(tuple(pairs), values.reshape(28, 1, 3).astype(np.float32), across, across, (), "")
    counted, *confound = describe_pair_set(found)
    more, less = {"change": (3, 0), "control": (0, 3), "neither": (0, 0)}[larger]
    assert counted.startswith(f"{more} of 3 heads")
    assert f", {less} less (14 changes" in counted
    assert bool(confound) is (larger == "change")


@pytest.mark.slow
def test_swapped_sides_change_nothing() -> None:
    some = READY[:20]
    straight, swapped = (
        told(brought(pairs_csv(pairs)))
        for pairs in (some, tuple(type(pair)(pair.b, pair.a, pair.control) for pair in some))
    )
    assert straight == swapped


@pytest.mark.slow
def test_identical_pairs_change_nothing() -> None:
    page = brought(f"{HEADER}{TIRED},{TIRED},change\n{TIRED},{TIRED},control\n")
    says(page, "0 of 72 heads")
    says(page, "0 bits against 0 (n = 1, corrected p = 1)")
    stands(page)


@pytest.mark.slow
@loop_over(
    ("content", "said"),
    [
        ("a,c\nx,y\n", 'Line 1 lacks the column "b"'),
        (f"a,b\n{TIRED},{WIDE}\n", "Without controls"),
        (f"{HEADER}{TIRED},{SO},control\n", "All pairs are"),
        (f"{HEADER}{TIRED},{WIDE},\nHe ran.,He jogged.,control\n", "n = 2 independent texts"),
        (f"a,b\n{TIRED},{WIDE}\n{TIRED},{'a ' * 900}end\n", "skipped: 1."),
        (f"a,b\n{TIRED},{WIDE}\n{TIRED},猫累了。\n", "skipped: 1."),
        (f"a,b\n{TIRED},{WIDE}\n{TIRED},猫累了。\n{WIDE},狗累了。\n", "2 of 3 pairs were skipped"),
    ],
    ids=["refused", "no control", "no change", "apart", "too long", "unknown words", "mostly unknown words"],
)
def test_what_the_page_says_of_a_file(content: str, said: str) -> None:
    page = brought(content)
    says(page, said)
    stands(page)


@pytest.mark.slow
def test_pairs_without_a_common_text_are_permuted_between_groups(saved_bytes: SavedBytes) -> None:
    page = brought(f"{HEADER}{TIRED},{WIDE},\nHe ran.,He jogged.,control\n")
    _table, provenance = parts(saved_bytes(page, "Save all heads"))
    assert provenance["permuted"] == "between groups"


@pytest.mark.slow
def test_text_of_a_file_stays_text() -> None:
    one, two = "<b>One</b> ![x](http://example.org/a.png)", "<i>Two</i> ![x](http://example.org/a.png)"
    page = brought(f"a,b\n{one},{two}\n")
    says(page, f"“{one}” | “{two}")
    stands(page)
