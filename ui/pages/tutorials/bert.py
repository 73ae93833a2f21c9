"""The theme of BERT: from pieces to the two tasks that it learned from."""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from typing import Any

import numpy as np
import streamlit as st

from attention.positions import sinusoidal
from inference.catalogue.bert_base import bert_base
from inference.files.embedded import BERT
from inference.questions.anatomy import Anatomy
from inference.questions.corruption import HIDDEN, KEPT, REPLACED, Corruption
from inference.questions.masked import MaskedWords, Place
from inference.questions.positions import PositionsRequest
from inference.questions.sentence import NextSentence
from inference.questions.tokens import Token, TokenSteps
from inference.text.accepted import check_text
from ui.pages.tutorials.options import Tutorials
from ui.pages.tutorials.station import Station, refuse_unread, to
from ui.run.shelf import backend
from ui.show.lists import commas, together
from ui.show.numbers import percent
from ui.state.choice import Choice
from ui.state.examples import EXAMPLES
from ui.state.options import choose_own
from wording import _, sentence

RUNNING = "She was running while embedding words."
FRANCE = "The capital of France is [MASK]."
PAIR = next((example["text"], example["pair"]) for example in EXAMPLES if example.get("pair"))
OF_TWO: dict[str, Any] = {"yours": True, "two": True, "model": BERT, "text": PAIR[0], "pair": PAIR[1]}
STRANGER = "The party lost nine seats in the election."
WAYS = {"hidden": HIDDEN, "replaced": REPLACED, "kept": KEPT}  # of training, by their names in a sentence
MOST_HIDDEN = 20  # pieces of a pair, which is what the question about blanks takes


def running(_choice: Choice, _options: Tutorials) -> str:
    """How many pieces “running” is, and a word that does fall apart."""
    tokens = backend().inspect(TokenSteps(model=BERT, text=RUNNING)).tokens
    whole, parted = (_pieces(tokens, word) for word in ("running", "embedding"))
    return together(
        _("“running” is one piece of this vocabulary: frequent words stay whole, whatever they are made of.")
        if len(whole) == 1
        else _(
            "“running” is {count} pieces, {pieces} of this vocabulary: frequent words stay whole, whatever they are "
            "made of.",
            count=len(whole),
            pieces=" ".join(whole),
        ),
        _("“embedding” falls into {count}: {pieces}.", count=len(parted), pieces=" ".join(parted)),
    )


def learned(_choice: Choice, _options: Tutorials) -> str:
    """Whether the table of positions is the paper's sines and cosines."""
    table = backend().inspect(PositionsRequest(model=BERT)).tables[0]
    rows, columns = table.vectors.shape
    away = float(np.abs(table.vectors - sinusoidal(rows, columns)).max())
    if table.layout:
        return _("This table of {rows} × {columns} numbers is that of sines and cosines.", rows=rows, columns=columns)
    return _(
        "This BERT's positions are learned: a table of {rows} × {columns} weights like any other, up to {away:.2f} "
        "from the sines and cosines, which reach 1. And since it ends, so does what the model can read: {rows} pieces.",
        rows=rows,
        columns=columns,
        away=away,
    )


def layers(_choice: Choice, _options: Tutorials) -> str:
    """The size of BERT-base, and of the model here."""
    base, here = bert_base(), backend().inspect(Anatomy(model=BERT))
    stack = here.stacks[0]
    return _(
        "BERT-base has {layers} layers of {heads} heads and vectors of {width} numbers: so says the configuration that "
        "the library of models has for it. The one in this app is smaller: {own_layers} layers of {own_heads} heads, "
        "vectors of {own_width}, {millions:.1f} million weights.",
        layers=base.layers,
        heads=base.heads,
        width=base.width,
        own_layers=stack.layers,
        own_heads=stack.attention.heads,
        own_width=here.width,
        millions=here.total / 1e6,
    )


def spoilt(choice: Choice, _options: Tutorials) -> str:
    """The loss of one sample of the reader's text, beside what guessing blindly would get."""
    found = backend().predict(Corruption(model=BERT, text=check_text(choice.text), cut=choice.cut, seed=1))
    refuse_unread(found.row, BERT)
    losses = [one.loss for one in found.chosen]
    ways = {name: sum(one.how == how for one in found.chosen) for name, how in WAYS.items()}
    vocabulary = backend().inspect(TokenSteps(model=BERT, text=RUNNING)).vocabulary
    return together(
        _(
            "In one sample of your text, {chosen} of {pieces} pieces are to be guessed, {hidden} hidden, {replaced} "
            "replaced and {kept} kept; the mean loss is {loss:.2f}.",
            chosen=len(losses),
            pieces=sum(not special for special in found.row.special),
            loss=sum(losses) / len(losses),
            **ways,
        ),
        _(
            "Who knows nothing, and gives each of {vocabulary:,} pieces the same, has {loss:.2f}.",
            vocabulary=vocabulary,
            loss=log(vocabulary),
        ),
    )


def facts(_choice: Choice, _options: Tutorials) -> str:
    """What is put first in a sentence that asks for a fact."""
    blank = backend().predict(MaskedWords(model=BERT, text=FRANCE, words=("Paris",)))
    best, paris = blank.blanks[0].guesses[0], blank.candidates[0]
    first = _(
        "“{text}” — Headlight BERT puts “{piece}” first, with {chance}.",
        text=FRANCE,
        piece=best.piece,
        chance=percent(best.probability),
    )
    second = ""
    if paris.log_probability is not None:
        chance = percent(np.exp(paris.log_probability))
        if paris.rank and paris.rank > 1:
            second = _("“Paris” gets {chance}, in place {rank}.", chance=chance, rank=paris.rank)
        else:
            second = _("“Paris” gets {chance}.", chance=chance)
    return together(first, second, _("It gives what fits the texts that it has read, true or not."))


def topics(_choice: Choice, _options: Tutorials) -> str:
    """A pair judged in both orders, and with a stranger in the second place."""
    first, second = PAIR
    chances = [
        backend().predict(NextSentence(model=BERT, text=one, pair=other)).probability
        for one, other in ((first, second), (second, first), (first, STRANGER))
    ]
    same = (
        _("Both orders get the same verdict: it tells whether two texts share a topic, not which comes first.")
        if (chances[0] >= 0.5) == (chances[1] >= 0.5)
        else _("The two orders get different verdicts.")
    )
    told = _(
        "“{second}” after “{first}” gets {chance:.3f}; the other way round {reversed:.3f}; “{stranger}” in the second "
        "place {strange:.3f}.",
        second=second,
        first=first,
        chance=chances[0],
        reversed=chances[1],
        stranger=STRANGER,
        strange=chances[2],
    )
    return together(told, same)


def joint(choice: Choice, options: Tutorials) -> str:
    """Both losses of one sample of the reader's pair, read once as training reads it, and their sum."""
    yours = bool(choice.pair.strip())
    text, pair = (check_text(choice.text), check_text(choice.pair, sentence("second text"))) if yours else PAIR
    sample = backend().predict(Corruption(model=BERT, text=text, pair=pair, cut=choice.cut, seed=options.seed))
    refuse_unread(sample.row, BERT)
    spans = [(sample.row.segments[one.position], sample.row.spans[one.position]) for one in sample.chosen[:MOST_HIDDEN]]
    hidden: tuple[Place, ...] = tuple((segment, *span) for segment, span in spans if span is not None)
    filled = backend().predict(MaskedWords(model=BERT, text=text, pair=pair, hidden=hidden, cut=choice.cut, top=1))
    stood = [blank.original for blank in filled.blanks if blank.original is not None]
    judged = backend().predict(NextSentence(model=BERT, text=filled.text, pair=filled.pair or "", cut=choice.cut))
    words = -sum(log(one.probability) for one in stood) / len(stood)
    follows = -log(judged.probability)
    named = commas([f"“{one.piece}” {percent(one.probability)}" for one in stood])
    return _(
        "{whose}, with {named} hidden: the masked words' mean loss is {words:.3f}, the next sentence's {follows:.3f}; "
        "together {both:.3f}. The pair is read as “{text} — {pair}”, and as one that goes on.",
        whose=_("Your pair") if yours else _("The example pair (type a second text for your own)"),
        named=named,
        words=words,
        follows=follows,
        both=words + follows,
        text=filled.text,
        pair=filled.pair,
    )


def another_sample(options: Tutorials) -> None:
    """A button for other words to be hidden."""
    st.button(
        _("Hide other words"),
        on_click=choose_own,
        args=(Tutorials,),
        kwargs={"seed": (options.seed + 1) % 1_000_000},
        icon=":material/casino:",
        help=_("Another seed; it is in the link, so that the same sample comes again"),
    )


def _pieces(tokens: Sequence[Token], word: str) -> list[str]:
    """The pieces of a word of RUNNING, as shown."""
    start = RUNNING.index(word)
    return [one.shown for one in tokens if one.span and start <= one.span[0] and one.span[1] <= start + len(word)]


STATIONS = (
    Station(
        sentence("Text as pieces"),
        sentence(
            "BERT reads numbers, one for each piece of a vocabulary of some thirty thousand. Rare words are put "
            "together from pieces; ## marks one that goes on with a word."
        ),
        (
            to("tokens", sentence("These words, step by step"), model=BERT, text=RUNNING),
            to("tokens", sentence("Your text as pieces"), yours=True, model=BERT),
        ),
        sentence("“running” is cut into run and ##ning, by its meaning."),
        running,
    ),
    Station(
        sentence("Three vectors and their sum"),
        sentence(
            "What enters the first layer is a sum of three vectors: of the piece, of its place, and of the text that "
            "it is in, the first or the second; then it is normed."
        ),
        (
            to("positions", sentence("BERT's table beside sines"), {"show": "vectors"}, model=BERT),
            to(
                "whole_pass",
                sentence("The sum, number by number"),
                {"zoom": "layer", "stage": "0"},
                yours=True,
                model=BERT,
            ),
        ),
        sentence("BERT tells places apart by sines and cosines."),
        learned,
    ),
    Station(
        sentence("A stack of encoder layers"),
        sentence(
            "The layers are alike: attention over the whole text, both sides at once, then the feed-forward part; each "
            "followed by a sum and a norm."
        ),
        (
            to("block", sentence("A layer, drawn from the model"), model=BERT),
            to("explore", sentence("All its heads"), model=BERT),
        ),
        sentence("BERT-base has 6 layers, as the encoder of the first Transformer."),
        layers,
    ),
    Station(
        sentence("Words hidden and spoilt"),
        sentence(
            "To learn from plain text, 15 % of the pieces are chosen; most of them become [MASK], some another piece, "
            "some stay. The model must tell all of them from both sides."
        ),
        (to("masked_words", sentence("Your text, spoilt as in training"), {"show": "lesson"}, yours=True, model=BERT),),
        sentence("15 % of the words are replaced by [MASK], and nothing else happens to them."),
        spoilt,
    ),
    Station(
        sentence("Filling a blank"),
        sentence(
            "A head turns the last vector at the blank into a probability for each piece of the vocabulary. Where it "
            "looks, and from which layer on the guess is there, is shown beside it."
        ),
        (
            to("masked_words", sentence("What it puts there"), {"show": "guesses"}, model=BERT, text=FRANCE),
            to("masked_words", sentence("From layer to layer"), {"show": "layers"}, model=BERT, text=FRANCE),
        ),
        sentence("Who fills blanks knows facts."),
        facts,
    ),
    Station(
        sentence("Does the second text follow?"),
        sentence(
            "The other task: two texts, and a head on [CLS] that says whether the second came after the first. Half "
            "of the pairs in training were put together from two documents."
        ),
        (to("next_sentence", sentence("Both orders, and who looks across"), model=BERT, text=PAIR[0], pair=PAIR[1]),),
        sentence("So BERT learns which sentence comes first."),
        topics,
    ),
    Station(
        sentence("Both tasks at once"),
        sentence(
            "In training both are asked of the same pass, and what is made smaller is the sum of the two losses: "
            "minus the logarithm of what the right answer got, for the hidden pieces on average."
        ),
        (
            to("masked_words", sentence("Hidden words of the pair"), {"show": "lesson"}, **OF_TWO),
            to("next_sentence", sentence("The pair, nothing hidden"), **OF_TWO),
        ),
        sentence("BERT learns to fill blanks first, and to judge pairs afterwards."),
        joint,
        another_sample,
    ),
)
