"""The selection: explicit choices are kept, and defaults are computed from the weights."""

from dataclasses import replace

import numpy as np
import pytest

from attention.head_search import between_words, head_of_link
from attention.record import MapRecord
from attention.trace import Trace
from attention.view import View
from inference import EMBEDDED, TraceRequest
from inference.cancellation import GONE, Cancelled
from tests.support.asking import asked, notes
from tests.support.cases import loop_over
from tests.support.traces import sentence_trace, translation_trace
from ui.input.probes import earlier_nouns
from ui.run.services import TraceStore, get_backend
from ui.state.selection import changes, directed_selection, find_word, load_baselines, pronoun_in, resolve_view, select
from ui.state.view_state import DEFAULT_MODEL, ViewState

EXAMPLE = {"focus": "chess", "target": "playing"}


def linked(layer: int, head: int, query: int, key: int) -> Trace:
    """Return a trace in which every head attends to the first token, except for a single link."""
    maps = np.zeros((2, 3, 6, 6), np.float32)
    maps[:, :, :, 0] = 1
    maps[layer, head, query] = np.eye(6, dtype=np.float32)[key] * 0.8
    name = f"{layer}-{head}-{query}-{key}"
    return sentence_trace(id=name, parts={"encoder": tuple(MapRecord(m) for m in maps)})


def test_the_first_view_shows_the_head_that_links_the_example_s_words() -> None:
    view = View(linked(1, 2, query=3, key=1), words=True)
    selection, notes = select(ViewState(), view, EXAMPLE)
    assert (selection["layer"], selection["head"]) == (1, 2)
    assert (view.queries[selection["focus"]].text, view.keys[selection["target"]].text) == ("chess", "playing")
    assert notes == []


@loop_over(
    ("text", "pronoun", "shown"),
    [
        ("The cat slept because it was tired.", "it", "cat"),
        ("Anna said that SHE knew her.", "SHE", "anna"),
        ("The bus driver stopped because he was tired.", "he", "driver"),
        ("When she arrived, Anna was tired.", "she", "anna"),  # no noun before the pronoun
        ("It rained.", None, None),
        ("The dog slept.", None, None),
    ],
)
def test_a_new_text_opens_on_its_pronoun(text: str, pronoun: str | None, shown: str | None) -> None:
    for words in (True, False):
        view = View(get_backend().trace(TraceRequest(text=text)), words=words)
        found = pronoun_in(view)
        assert (None if found is None else view.queries[found].text) == (pronoun.lower() if pronoun else None)
        if found is not None:
            selection, _ = select(ViewState(model=EMBEDDED, text=text), view, None)
            assert selection["focus"] == found
            weights = between_words(view.rows(found), view, found)[selection["layer"], selection["head"]]
            assert view.keys[int(weights.argmax())].text == shown


def test_a_pronoun_opens_on_the_best_of_the_heads_that_refer_back() -> None:
    choice = ViewState(model=EMBEDDED, text="The cat slept because it was tired.")
    view = View(get_backend().trace(TraceRequest(text=choice.text)))
    it, cat, tired = (find_word(view.queries, word) for word in ("it", "cat", "tired"))
    assert it is not None
    selection, _ = select(choice, view, None)
    strongest = between_words(view.rows(it), view, it).argmax(axis=-1)
    back = np.isin(strongest, earlier_nouns(view, it))
    assert earlier_nouns(view, it) == [cat]
    shown = selection["layer"], selection["head"]
    assert shown == head_of_link(view, *load_baselines(choice, view), it, None, back)
    forward, _ = select(replace(choice, to=tired), view, None)
    assert strongest[forward["layer"], forward["head"]] == tired, "a chosen target counts before the rule"


def test_without_an_example_the_link_most_its_own_is_shown() -> None:
    view = View(linked(0, 1, query=3, key=2))
    for choice in (ViewState(), ViewState(layer=0, head=1)):
        selection, _ = select(choice, view, None)
        assert (selection["layer"], selection["head"], selection["focus"]) == (0, 1, 3)


@pytest.mark.parametrize("model", [EMBEDDED, DEFAULT_MODEL])
def test_a_text_of_one_word_opens_on_its_strongest_link(model: str) -> None:
    choice = ViewState(model=model, text="Hello")
    view = View(get_backend().trace(TraceRequest(model, "Hello")))
    selection, _ = select(choice, view, None)
    layer, head = selection["layer"], selection["head"]
    key = int(view.rows(1)[layer, head].argmax())
    assert (selection["focus"], view.keys[key].special) == (1, True)
    assert (layer, head) == head_of_link(view, *load_baselines(choice, view), 1, key)


@pytest.mark.slow
@pytest.mark.parametrize("model", [EMBEDDED, DEFAULT_MODEL])
@pytest.mark.parametrize(
    "text", ["My brother lost his keys on the train to London.", "Dogs that chase cats get tired."]
)
def test_a_text_opens_on_no_head_of_places_or_columns(text: str, model: str) -> None:
    view = View(get_backend().trace(TraceRequest(model, text)))
    selection, _ = select(ViewState(model=model, text=text), view, None)
    survey, habits = load_baselines(ViewState(model=model, text=text), view)
    assert habits is not None
    layer, head, focus = selection["layer"], selection["head"], selection["focus"]
    rows = view.rows(focus)
    usual = survey.crowd.usual_row(view, focus, rows)
    key = int(np.where([cell.special for cell in view.keys], 0, rows[layer, head]).argmax())
    assert not habits.positional[layer, head]
    assert rows[layer, head, key] > 2 * usual[layer, head, key]
    assert rows[layer, head, key] > 2 * habits.row(view, focus)[layer, head, key]


def test_of_a_given_word_the_head_is_the_one_that_goes_furthest_beyond() -> None:
    """The strongest weight belongs to a head in which every word attends to that token."""
    maps = np.full((2, 3, 6, 6), 0.02, np.float32)
    maps[0, 0, :, 1] = 0.9
    maps[1, 2, 3, 1] = 0.6
    view = View(sentence_trace(id="column", parts={"encoder": tuple(MapRecord(m) for m in maps)}))
    selection, _ = select(ViewState(focus=3, to=1), view, None)
    assert (selection["layer"], selection["head"]) == (1, 2)


def test_a_choice_is_kept_and_counted_in_tokens() -> None:
    choice = ViewState(layer=0, head=0, focus=3, to=2)
    pieces, _ = select(choice, View(sentence_trace()), EXAMPLE)
    words, _ = select(choice, View(sentence_trace(), words=True), EXAMPLE)
    assert (pieces["focus"], pieces["target"]) == (3, 2)
    assert (words["focus"], words["target"]) == (2, 1), "chess is word cell 2; ##ing lies in cell 1"


def test_a_link_to_what_is_not_there_says_so() -> None:
    _, notes = select(ViewState(layer=9, head=0, focus=99), View(sentence_trace()), None)
    assert any("head 9-0" in note and "layers are 0 to 1, heads 0 to 2" in note for note in notes)
    assert any("token 99" in note and "tokens are 0 to 5" in note for note in notes)
    look, more = resolve_view(ViewState(part="cross"), sentence_trace())
    assert look.part == ""
    assert "“cross”" in more[0]


@pytest.mark.parametrize("words", [False, True])
def test_a_selection_in_the_component_becomes_the_same_choice(words: bool) -> None:
    view = View(sentence_trace(), words=words)
    for focus in range(len(view.queries)):
        selection = {"layer": 1, "head": 2, "focus": focus, "target": 0, "tab": "lines", "pinned": [[0, 1]]}
        choice = ViewState(**changes(selection, view))
        again, _ = select(choice, view, None)
        assert {name: again[name] for name in selection} == selection


def test_who_looks_at_the_target_is_left_open_where_nobody_was_picked() -> None:
    view = View(linked(1, 2, query=3, key=2))

    def ends(choice: ViewState) -> tuple[int | None, int | None]:
        selection = directed_selection(select(choice, view, None)[0], choice, view)
        again = changes(selection, view)
        assert (again["facing"], again["focus"], again["to"]) == (
            choice.facing,
            selection["focus"],
            selection["target"],
        )
        return selection["focus"], selection["target"]

    assert ends(ViewState(facing="in", layer=1, head=2, to=4)) == (None, 4)
    assert ends(ViewState(facing="in", layer=1, head=2, focus=3, to=4)) == (3, 4)
    assert ends(ViewState(facing="in")) == (3, 2), (
        "nothing is chosen: the link that the text opens on, from its other end"
    )
    assert ends(ViewState(layer=1, head=2, focus=3)) == (3, None)


def test_a_selection_that_does_not_fit_changes_nothing() -> None:
    view = View(sentence_trace())
    found = changes({"layer": 99, "head": "x", "focus": -1, "pinned": [[0, 99]]}, view)
    assert "layer" not in found
    assert found["focus"] is None
    assert found["pins"] == ""


@pytest.mark.parametrize("value", ["nonsense", None, 1, [], {}])
def test_option_of_another_type_changes_nothing(value: object) -> None:
    assert "by" not in changes({"by": value}, View(sentence_trace()))


def test_hidden_special_tokens_do_not_break_the_focus() -> None:
    view = View(sentence_trace(), special=False)
    selection, _ = select(ViewState(focus=0), view, None)
    assert 0 <= selection["focus"] < len(view.queries)
    cross = View(translation_trace(), "cross", special=False)
    selection, _ = select(ViewState(), cross, None)
    assert selection["focus"] == 0


@pytest.mark.slow
@pytest.mark.parametrize("page", ["explore", "find"])
@pytest.mark.parametrize("late", [True, False])
def test_a_page_whose_figure_takes_too_long_says_so_and_one_that_nobody_reads_just_ends(
    monkeypatch: pytest.MonkeyPatch, page: str, late: bool
) -> None:
    def ends(*_: object) -> None:
        raise Cancelled("This took too long.") if late else Cancelled(GONE)

    monkeypatch.setattr(TraceStore, "survey", ends)
    drawn = asked(page, text="A figure that does not come.")
    assert not drawn.exception
    assert ("This took too long." in notes(drawn, "refusal")) == late
