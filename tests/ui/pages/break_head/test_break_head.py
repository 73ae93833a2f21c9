"""The view Break the head: its result is the model's, words are guessed or chosen, and every text has an answer."""

from __future__ import annotations

import re
from dataclasses import astuple

import pytest
from streamlit.testing.v1 import AppTest

from attention.counterexamples import LinkWords, measure_links
from attention.head_search import LEAST
from attention.view import View
from inference import LocalBackend, TraceRequest
from probing.formats import load_ready_set
from probing.pronoun_heads import PRONOUNS, stored_pronoun_head
from tests.support.asking import asked, notes
from tests.support.cases import loop_over
from ui.input.probes import span_of
from ui.pages.break_head.page import OUTCOMES, RIGHT, TESTED
from ui.pages.break_head.question import BreakHeadOptions, find_words
from ui.state import visitor_values
from ui.state.navigation import view_fields
from ui.state.selection import LOOKED_AT

MODEL = "headlight-bert"
SENTENCE = "The dog chased the cat because it was scared."


def view_of(text: str) -> View:
    return View(LocalBackend().trace(TraceRequest(model=MODEL, text=text)), words=True)


def words_in(text: str, **options: str) -> list[str]:
    view = view_of(text)
    found = find_words(view, BreakHeadOptions(**options))
    return [] if found is None else [view.keys[at].text for at in astuple(found.words)]


def is_known(text: str, **options: str) -> bool:
    """Return whether the question of a text has a known right noun."""
    found = find_words(view_of(text), BreakHeadOptions(**options))
    assert found is not None
    return found.is_known


def verdicts(page: AppTest) -> set[str]:
    """Return the outcomes that the page's notes name."""
    said = " ".join(notes(page)).split()
    return {str(outcome) for outcome in OUTCOMES.values() if f"{outcome}:" in said}


@pytest.mark.slow
def test_the_result_and_the_claim_have_the_model_s_numbers() -> None:
    page = asked("break_head", model=MODEL, text=SENTENCE, right="cat", other="dog", layer=2, head=4)
    view = view_of(SENTENCE)
    at = [cell.text for cell in view.keys].index
    right, other = measure_links(view, LinkWords(at("it"), at("cat"), at("dog")))[:, 2, 4]
    result = next(note for note in notes(page) if "“it”" in note or "“cat”" in note)
    assert {f"{right:.0%}", f"{other:.0%}"} <= set(re.findall(r"\d+%", result))
    score = stored_pronoun_head(view.trace.model)
    assert score is not None
    captions = " ".join(caption.value for caption in page.caption)
    assert f"{score.hits[2][4]} of {score.links}" in captions


@pytest.mark.slow
def test_the_table_has_the_swapped_sentence_and_the_rewordings() -> None:
    page = asked("break_head", model=MODEL, text=SENTENCE, rewordings="A dog chased the cat because it was scared.")
    (table,) = (frame.value for frame in page.dataframe)
    sentences = table["Sentence"].tolist()
    assert sentences == [
        "The cat chased the dog because it was scared.",
        "A dog chased the cat because it was scared.",
    ]


@pytest.mark.slow
def test_a_card_with_a_link_survives_a_reload(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(visitor_values, "cookie", lambda: "b" * 22)
    view = view_of(SENTENCE)
    at = [cell.text for cell in view.keys].index
    right, other = measure_links(view, LinkWords(at("it"), at("dog"), at("cat")))
    layer, head = divmod(int((other - right).argmax()), view.heads)
    page = asked("break_head", model=MODEL, text=SENTENCE, right="dog", other="cat", layer=layer, head=head)
    (keep,) = (button for button in page.button if button.key == "break_head_keep")
    keep.click().run()
    assert not page.exception
    assert any(SENTENCE in markdown.value.replace("\\", "") for markdown in page.markdown)
    assert len(page.get("download_button")) == 2, "the table and the cards"
    again = asked("break_head", model=MODEL)
    assert any(SENTENCE in markdown.value.replace("\\", "") for markdown in again.markdown)


@pytest.mark.slow
@loop_over("text", ["", "Rain.", "It rains.", "One text for all pages."])
def test_a_text_without_the_words_gets_a_sentence(text: str) -> None:
    page = asked("break_head", model=MODEL, text=text)
    assert not page.exception
    assert notes(page) or notes(page, "refusal")


@pytest.mark.slow
def test_words_are_chosen_or_guessed() -> None:
    assert words_in(SENTENCE) == ["it", "dog", "cat"]
    assert words_in(SENTENCE, right="cat", other="dog") == ["it", "cat", "dog"]
    assert words_in(SENTENCE, right="missing") == ["it", "dog", "cat"]
    assert words_in("Ann met Bob when he sang.") == ["he", "ann", "bob"]
    assert words_in("One text for all pages.")[0] == "pages", "without a pronoun"
    assert words_in("It rains.") == []


@pytest.mark.slow
def test_every_annotated_sentence_has_its_own_words() -> None:
    pronouns = load_ready_set(PRONOUNS).items
    traces = LocalBackend().traces([TraceRequest(model=MODEL, text=item.text) for item in pronouns])
    for item, trace in zip(pronouns, traces, strict=True):
        view, (link,) = View(trace, words=True), item.links
        found = find_words(view, BreakHeadOptions())
        assert found is not None
        assert found.is_known
        assert link.others is not None
        spans = [item.units[unit] for unit in (link.source, link.target, *link.others)]
        assert [span_of(view, cell) for cell in astuple(found.words)] == spans, item.text


@pytest.mark.slow
def test_only_a_stated_noun_is_known() -> None:
    assert not is_known(SENTENCE)
    assert is_known(SENTENCE, right="cat")
    assert not is_known(SENTENCE, right="missing")
    assert not is_known(SENTENCE, other="dog")
    assert not is_known(SENTENCE, source="scared")


@pytest.mark.slow
def test_a_verdict_follows_the_choice_of_the_noun() -> None:
    page = asked("break_head", model=MODEL, text=SENTENCE, layer=2, head=4)
    assert verdicts(page) == set()
    assert page.session_state[RIGHT] is None
    assert not any(button.key == "break_head_keep" for button in page.button)
    view = view_of(SENTENCE)
    cell = [key.text for key in view.keys].index("cat")
    (nouns,) = (group for group in page.button_group if group.key == RIGHT)
    nouns.set_value(cell).run()
    assert len(verdicts(page)) == 1
    assert page.query_params["right"] == "cat"
    assert page.query_params["other"] == "dog"


@pytest.mark.slow
def test_the_table_names_the_preferred_noun_by_its_weights() -> None:
    page = asked("break_head", model=MODEL, text=SENTENCE, right="dog", other="cat", layer=3, head=1)
    (table,) = (frame.value for frame in page.dataframe)
    seen = set()
    for *_other, dog, cat, preferred in table.itertuples(index=False):
        if abs(dog - cat) > LEAST:
            assert preferred == ("dog" if dog > cat else "cat")
            seen.add(preferred)
    assert seen


@pytest.mark.slow
def test_the_head_of_the_page_before_stays_selected() -> None:
    page = asked("explore", model=MODEL, text=SENTENCE)
    _model, layer, head = page.session_state[LOOKED_AT]
    best = stored_pronoun_head(view_of(SENTENCE).trace.model)
    assert best is not None
    assert (layer, head) != (best.layer, best.head)
    page.query_params.update(view_fields("break_head"))
    page.run()
    assert (page.query_params["layer"], page.query_params["head"]) == (str(layer), str(head))
    assert not page.exception


@pytest.mark.slow
def test_a_new_sentence_keeps_the_tested_head() -> None:
    page = asked("break_head", model=MODEL, text=SENTENCE, layer=2, head=4)
    for name in ("layer", "head"):  # A new sentence deselects the head.
        del page.query_params[name]
    page.query_params["text"] = "Mary told Anna that she had won the prize."
    page.run()
    assert page.session_state[TESTED] == (MODEL, 2, 4)
    assert any("2-4" in note for note in notes(page))


@pytest.mark.slow
@pytest.mark.parametrize("text", ["The dogs sleep.", "One text for all pages."])
def test_without_a_pronoun_no_head_is_tested(text: str) -> None:
    page = asked("break_head", model=MODEL, text=text)
    assert not page.dataframe
    assert RIGHT not in page.session_state
    page = asked("break_head", model=MODEL, text=text, source=text.split()[-1].strip("."))
    assert RIGHT in page.session_state


@pytest.mark.slow
def test_a_noun_of_several_tokens_has_the_weight_that_its_strip_shows() -> None:
    text = "The embedding beat the tokenizer because it was too unbelievable."
    page = asked("break_head", model=MODEL, text=text, layer=1, head=3)
    row = view_of(text).weights(1, 3)
    texts = [cell.text for cell in view_of(text).keys]
    shown = {f"{row[texts.index('it'), texts.index(noun)]:.0%}" for noun in ("embedding", "tokenizer")}
    assert shown <= set(re.findall(r"\d+%", next(note for note in notes(page) if "“embedding”" in note)))


@pytest.mark.slow
def test_a_model_that_translates_gets_a_sentence() -> None:
    page = asked("break_head", model="headlight-en-fr", text="The dog saw the cat because it sang.")
    assert not page.exception
    assert notes(page) or notes(page, "refusal")
