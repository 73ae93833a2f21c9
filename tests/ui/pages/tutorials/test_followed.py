"""Links of all tutorial stations: each page opens without refusals and shows the station's numbers."""

from __future__ import annotations

import pytest

from tests.support.asking import asked, notes, stands
from ui.pages.tutorials import themes
from ui.pages.tutorials.options import THEMES
from ui.state.view_state import ViewState

TRANSLATED = "Before writing “Le”, cross head 2-7 looks at the word “The” most"
# Text on the linked page, by the link's label; it has the numbers of the station's sentence, if there are any.
SEEN = {
    "Costs and paths, with your text's length": "n² · d = 98,304 and n · d² = 2,359,296",
    "On four small words, any number changed": "“it” gives “cat” 0.81 of its attention",
    "On a real layer": "Head 3-1: “it” gives “animal” 0.68 of its attention",
    "The example, cell by cell": "the softmax of its scores is 0.25 0.25 0.24 0.26 for “french”",
    "What the gradient feels of it": "0.332 with scores over √4, 0.039 with scores as they are",
    "The same on a real head": "Its spread goes from 1.82 bits to 0.00",
    "Tired beside wide": "“it” gives “animal” 0.68 with “tired” and 0.28 with “wide”",
    "What each head is like": "of 72 heads",
    "The order test on your text": "no weight differs by more than",
    "The whole pass of your text": "each of the 80 stages",
    "What a layer is made of": "an encoder of 6 layers",
    "Take heads away": "Alone, head",
    "Do explanations agree?": "ways put the same one first",
    "These words, step by step": "“embedding” becomes em · ##bed · ##ding",
    "Your text as pieces": "headlight-bert reads 60 characters as 14 pieces",
    "BERT's table beside sines": "has learned vectors for 512 positions",
    "The sum, number by number": "Before the layers, embeddings, token embeddings",
    "A layer, drawn from the model": "an encoder of 6 layers in which each token sees all others through 12 heads",
    "Your text, spoilt as in training": "2 pieces are to be guessed; the loss is 4.36",
    "What it puts there": "puts “france” first (0.15)",
    "From layer to layer": "“france” is first after the last layer only",
    "Both orders, and who looks across": "gives 0.940 that “It was asleep within a minute.” follows; the other way",
    "Hidden words of the pair": "2 pieces are to be guessed",
    "The pair, nothing hidden": "gives 0.940 that “It was asleep within a minute.” follows",
    "Requests to a voice assistant": "7 classes; “PlayMusic” is",
    "Sentences as vectors": "Of 8 sentences",
    "What [CLS] was trained for": "Both orders are called likely",
    "Reviews of films": "2 classes; “positive” is 50% of train",
    "Names in posts": "6 kinds of spans",
    "4 layers frozen": "7 classes; “science/technology” is",
    "Only the head learns": "7 classes; “science/technology” is",
    "All weights learn": "7 classes; “science/technology” is",
    "The same blank, nothing dropped": "puts “he” first (0.39)",
    "Teach, then look at what changed": "What changed in its heads follows",
    "One word, three contexts": "is 0.75 in sentences 1 and 2, 0.78 in sentences 1 and 3, 0.86 in sentences 2 and 3",
    "The words of your text": "“it” is most like",
    "Both tokenizers, side by side": "headlight-en-fr reads 35 characters as 13 pieces",
    "The sines of the translator": "the largest difference is 3e-08",
    "One place on: the shift matrix": "One matrix moves every position by 5",
    "BERT's table": "has learned vectors for 512 positions",
    "Drawn from the model's own parts": "It has 22,713,216 parameters in all",
    "With all its numbers": "each of the 80 stages",
    "A model that goes on, if one is here": "",  # The installed model is not known.
    "all-MiniLM-L6-v2 beside headlight-bert": "0.68 in all-MiniLM-L6-v2 and 0.51 in headlight-bert",
    "Both stacks, drawn from the model": "an encoder of 3 layers in which each token sees all others through 8 heads",
    "A translation": TRANSLATED,
    "Alignment": TRANSLATED,
    "Head scores": "of 175 words",
    "A translation that you give": "7 of your 8",
    "One step after the other": "“␣Le” is likeliest (0.84)",
    "The beams as a tree": "best is “Le chat noir dort sous la table.”",
    "With the rest of the layer": "So it is here: “french” → “I” (0.76), “je” → “am” (0.76)",
    "With attention alone": "It is not so here: “french” → “French”",
    "Four heads of one column, d_k = 1": "Of the 4 heads with d_k = 1, head 3 comes nearest",
    "All stages of the translator": "each of the 104 stages",
}
DRAWN = {"explore"}  # A component draws the numbers; tests/browser/test_explore.py covers it.


@pytest.mark.slow
@pytest.mark.parametrize("theme", list(THEMES))
def test_a_link_leads_to_what_is_said_of_it(theme: str) -> None:
    for station in themes.STATIONS[theme]:
        for link in station.links:
            page = asked(link.page, **link.query(ViewState()) or {})
            stands(page)
            said = notes(page)
            assert notes(page, "refusal") == [], link.label
            assert link.page in DRAWN or any(SEEN[link.label] in one for one in said), (link.label, said)


def test_nothing_is_listed_that_no_link_has() -> None:
    links = [link for stations in themes.STATIONS.values() for station in stations for link in station.links]
    assert {link.label for link in links if link.page not in DRAWN} == set(SEEN)
