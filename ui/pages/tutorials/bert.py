"""Stations on BERT: from subwords to its two pre-training tasks."""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from typing import Any

import numpy as np
import streamlit as st

from attention.positions import sinusoidal
from i18n import _, gettext_lazy
from inference.catalogue.listing import bert_base
from inference.files.embedded import BERT
from inference.tasks.anatomy import Anatomy
from inference.tasks.positions import PositionsRequest
from inference.tasks.predictions import HIDDEN, KEPT, REPLACED, Corruption, MaskedWords, NextSentence, Place
from inference.tasks.tokenizer_steps import Token, TokenSteps
from inference.text.encoding import check_text
from ui.pages.tutorials.options import TutorialsOptions
from ui.pages.tutorials.station import Station, link_to, refuse_unread
from ui.run.services import get_backend
from ui.show.text import format_comma_list, join_sentences, percent
from ui.state.examples import EXAMPLES
from ui.state.params import set_params
from ui.state.view_state import ViewState

RUNNING = "She was running while embedding words."
FRANCE = "The capital of France is [MASK]."
PAIR = next((example["text"], example["pair"]) for example in EXAMPLES if example.get("pair"))
OF_TWO: dict[str, Any] = {"yours": True, "two": True, "model": BERT, "text": PAIR[0], "pair": PAIR[1]}
STRANGER = "The party lost nine seats in the election."
WAYS = {"hidden": HIDDEN, "replaced": REPLACED, "kept": KEPT}  # corruption methods by their placeholders in a message
MOST_HIDDEN = 20  # most masked tokens of a pair; MaskedWords accepts no more


def subword_count(_choice: ViewState, _options: TutorialsOptions) -> str:
    """Return sentences with the subwords of a frequent and of a rarer word."""
    tokens = get_backend().inspect(TokenSteps(model=BERT, text=RUNNING)).tokens
    whole, parted = (_pieces(tokens, word) for word in ("running", "embedding"))
    return join_sentences(
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


def position_table(_choice: ViewState, _options: TutorialsOptions) -> str:
    """Return sentences that compare BERT's position embeddings with the sinusoidal formula."""
    table = get_backend().inspect(PositionsRequest(model=BERT)).tables[0]
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


def layers(_choice: ViewState, _options: TutorialsOptions) -> str:
    """Return sentences with the sizes of BERT-base and of the embedded model."""
    base, here = bert_base(), get_backend().inspect(Anatomy(model=BERT))
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


def corruption_loss(choice: ViewState, _options: TutorialsOptions) -> str:
    """Return sentences with the masked-word loss of the reader's text and the loss of a uniform guess."""
    found = get_backend().predict(Corruption(model=BERT, text=check_text(choice.text), cut=choice.cut, seed=1))
    refuse_unread(found.row, BERT)
    losses = [one.loss for one in found.chosen]
    ways = {name: sum(one.how == how for one in found.chosen) for name, how in WAYS.items()}
    vocabulary = get_backend().inspect(TokenSteps(model=BERT, text=RUNNING)).vocabulary
    return join_sentences(
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


def facts(_choice: ViewState, _options: TutorialsOptions) -> str:
    """Return sentences with the predictions for a masked word in a statement of fact."""
    blank = get_backend().predict(MaskedWords(model=BERT, text=FRANCE, words=("Paris",)))
    best, paris = blank.blanks[0].guesses[0], blank.candidates[0]
    first = _(
        "“{text}” — headlight-bert puts “{piece}” first, with {chance}.",
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
    return join_sentences(first, second, _("It gives what fits the texts that it has read, true or not."))


def topics(_choice: ViewState, _options: TutorialsOptions) -> str:
    """Return sentences with next-sentence probabilities of a pair, its reverse and an unrelated pair."""
    first, second = PAIR
    chances = [
        get_backend().predict(NextSentence(model=BERT, text=one, pair=other)).probability
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
    return join_sentences(told, same)


def joint_loss(choice: ViewState, options: TutorialsOptions) -> str:
    """Return a sentence with both pre-training losses and their sum on a sample of the reader's pair.

    Without a second text, the example pair is used.
    """
    yours = bool(choice.pair.strip())
    text, pair = (check_text(choice.text), check_text(choice.pair, gettext_lazy("second text"))) if yours else PAIR
    sample = get_backend().predict(Corruption(model=BERT, text=text, pair=pair, cut=choice.cut, seed=options.seed))
    refuse_unread(sample.row, BERT)
    spans = [(sample.row.segments[one.position], sample.row.spans[one.position]) for one in sample.chosen[:MOST_HIDDEN]]
    hidden: tuple[Place, ...] = tuple((segment, *span) for segment, span in spans if span is not None)
    filled = get_backend().predict(MaskedWords(model=BERT, text=text, pair=pair, hidden=hidden, cut=choice.cut, top=1))
    stood = [blank.original for blank in filled.blanks if blank.original is not None]
    judged = get_backend().predict(NextSentence(model=BERT, text=filled.text, pair=filled.pair or "", cut=choice.cut))
    words = -sum(log(one.probability) for one in stood) / len(stood)
    follows = -log(judged.probability)
    named = format_comma_list([f"“{one.piece}” {percent(one.probability)}" for one in stood])
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


def another_sample(options: TutorialsOptions) -> None:
    """Draw a button that increments the seed of the masked tokens."""
    st.button(
        _("Hide other words"),
        on_click=set_params,
        args=(TutorialsOptions,),
        kwargs={"seed": (options.seed + 1) % 1_000_000},
        icon=":material/casino:",
        help=_("The link stores the seed"),
    )


def _pieces(tokens: Sequence[Token], word: str) -> list[str]:
    """Return the subwords of a word in RUNNING."""
    start = RUNNING.index(word)
    return [one.shown for one in tokens if one.span and start <= one.span[0] and one.span[1] <= start + len(word)]


STATIONS = (
    Station(
        gettext_lazy("Text as pieces"),
        gettext_lazy(
            "BERT reads numbers, one for each piece of a vocabulary of some thirty thousand. Rare words are put "
            "together from pieces; ## marks one that goes on with a word."
        ),
        (
            link_to("tokens", gettext_lazy("These words, step by step"), model=BERT, text=RUNNING),
            link_to("tokens", gettext_lazy("Your text as pieces"), yours=True, model=BERT),
        ),
        gettext_lazy("“running” is cut into run and ##ning, by its meaning."),
        subword_count,
    ),
    Station(
        gettext_lazy("Three vectors and their sum"),
        gettext_lazy(
            "What enters the first layer is a sum of three vectors: of the piece, of its place, and of the text that "
            "it is in, the first or the second; then it is normed."
        ),
        (
            link_to("positions", gettext_lazy("BERT's table beside sines"), {"show": "vectors"}, model=BERT),
            link_to(
                "whole_pass",
                gettext_lazy("The sum, number by number"),
                {"zoom": "layer", "stage": "0"},
                yours=True,
                model=BERT,
            ),
        ),
        gettext_lazy("BERT tells places apart by sines and cosines."),
        position_table,
    ),
    Station(
        gettext_lazy("A stack of encoder layers"),
        gettext_lazy(
            "The layers are alike: attention over the whole text, both sides at once, then the feed-forward part; each "
            "followed by a sum and a norm."
        ),
        (
            link_to("block", gettext_lazy("A layer, drawn from the model"), model=BERT),
            link_to("explore", gettext_lazy("All its heads"), model=BERT),
        ),
        gettext_lazy("BERT-base has 6 layers, as the encoder of the first Transformer."),
        layers,
    ),
    Station(
        gettext_lazy("Words hidden and spoilt"),
        gettext_lazy(
            "To learn from plain text, 15 % of the pieces are chosen; most of them become [MASK], some another piece, "
            "some stay. The model must tell all of them from both sides."
        ),
        (
            link_to(
                "masked_words",
                gettext_lazy("Your text, spoilt as in training"),
                {"show": "lesson"},
                yours=True,
                model=BERT,
            ),
        ),
        gettext_lazy("15 % of the words are replaced by [MASK], and nothing else happens to them."),
        corruption_loss,
    ),
    Station(
        gettext_lazy("Filling a blank"),
        gettext_lazy(
            "A head turns the last vector at the blank into a probability for each piece of the vocabulary. Where it "
            "looks, and from which layer on the guess is there, is shown beside it."
        ),
        (
            link_to("masked_words", gettext_lazy("What it puts there"), {"show": "guesses"}, model=BERT, text=FRANCE),
            link_to("masked_words", gettext_lazy("From layer to layer"), {"show": "layers"}, model=BERT, text=FRANCE),
        ),
        gettext_lazy("Who fills blanks knows facts."),
        facts,
    ),
    Station(
        gettext_lazy("Does the second text follow?"),
        gettext_lazy(
            "The other task: two texts, and a head on [CLS] that says whether the second came after the first. Half "
            "of the pairs in training were put together from two documents."
        ),
        (
            link_to(
                "next_sentence",
                gettext_lazy("Both orders, and who looks across"),
                model=BERT,
                text=PAIR[0],
                pair=PAIR[1],
            ),
        ),
        gettext_lazy("So BERT learns which sentence comes first."),
        topics,
    ),
    Station(
        gettext_lazy("Both tasks at once"),
        gettext_lazy(
            "In training both are asked of the same pass, and what is made smaller is the sum of the two losses: "
            "minus the logarithm of what the right answer got, for the hidden pieces on average."
        ),
        (
            link_to("masked_words", gettext_lazy("Hidden words of the pair"), {"show": "lesson"}, **OF_TWO),
            link_to("next_sentence", gettext_lazy("The pair, nothing hidden"), **OF_TWO),
        ),
        gettext_lazy("BERT learns to fill blanks first, and to judge pairs afterwards."),
        joint_loss,
        another_sample,
    ),
)
