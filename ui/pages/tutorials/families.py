"""Stations on embeddings and model families: from word vectors to three kinds of Transformers."""

from __future__ import annotations

import numpy as np

from attention.trace import Trace
from attention.vectors import along_levels
from i18n import _, gettext_lazy
from inference.files.embedded import BERT, TRANSLATOR
from inference.tasks.anatomy import FORWARD, TOKENS, Anatomy
from inference.tasks.hidden_states import HiddenStates
from inference.tasks.positions import PositionsRequest
from inference.tasks.tokenizer_steps import TokenSteps
from ui.pages.tutorials.options import TutorialsOptions
from ui.pages.tutorials.station import TIRED, Station, get_trace, link_to
from ui.run.services import get_backend
from ui.show.text import format_semicolon_list, join_sentences, scientific
from ui.state.view_state import ViewState

BANK = (
    "She sat on the bank of the river and watched the boats.",
    "He took the money to the bank and opened an account.",
    "The bank raised the interest on its loans.",
)
ODD = "An unbelievable embedding of words."
CAT = "The black cat sleeps under the table."


def one_word(_choice: ViewState, _options: TutorialsOptions) -> str:
    """Return sentences with the cosines of a word in three contexts, at the first and the last level."""
    states = [get_backend().inspect(HiddenStates(text=text)) for text in BANK]
    river, money, loans = (state.levels[:, state.row.pieces.index("bank")] for state in states)
    apart, alike = along_levels(river, money), along_levels(money, loans)
    return _(
        "“bank” beside a river and “bank” with money: where they enter, the cosine is {first:.2f}, since their "
        "places differ and nothing else; after the last layer it is {last:.2f}. Two banks with money have "
        "{alike:.2f} there.",
        first=apart[0],
        last=apart[-1],
        alike=alike[-1],
    )


def subword_pieces(_choice: ViewState, _options: TutorialsOptions) -> str:
    """Return a sentence with the subwords of two tokenizers for the same text."""
    found = [get_backend().inspect(TokenSteps(model=model, text=ODD)) for model in (BERT, TRANSLATOR)]
    said = []
    for steps in found:
        pieces = [token.shown for token in steps.tokens if not token.special]
        said.append(
            _(
                "{algorithm} with {vocabulary:,} entries makes {count} pieces: {pieces}",
                algorithm=steps.algorithm,
                vocabulary=steps.vocabulary,
                count=len(pieces),
                pieces=" ".join(pieces),
            )
        )
    return _("“{text}”: {found}.", text=ODD, found=format_semicolon_list(said))


def places(_choice: ViewState, _options: TutorialsOptions) -> str:
    """Return sentences on the translator's sinusoidal and BERT's learned position embeddings."""
    waves, table = (get_backend().inspect(PositionsRequest(model=model)).tables[0] for model in (TRANSLATOR, BERT))
    there, here = waves.vectors.shape[0], table.vectors.shape[0]
    return join_sentences(
        _(
            "The translator's table of {places} places is the formula to {error}: sines and cosines, nothing learned.",
            places=there,
            error=scientific(waves.error),
        )
        if waves.layout and waves.error is not None
        else _(
            "The translator's table of {places} places is not the formula: sines and cosines, nothing learned.",
            places=there,
        ),
        _("BERT's of {places} places is a formula as well.", places=here)
        if table.layout
        else _("BERT's of {places} places is learned and has no formula.", places=here),
        _("Other families turn queries and keys, or add a number for each distance."),
    )


def shares(_choice: ViewState, _options: TutorialsOptions) -> str:
    """Return a sentence with the shares of weights in embeddings, feed-forward parts and attention."""
    build = get_backend().inspect(Anatomy())
    per = {name: sum(part.count for part in build.parts if name in part.name) for name in ("attention", FORWARD)}
    words = sum(part.count for part in build.parts if part.name == TOKENS)
    total = build.total
    return _(
        "Of all-MiniLM-L6-v2's {total:,} weights, {words:.0%} are the vectors of its pieces, "
        "{forward:.0%} are in feed-forward parts and {attention:.0%} in attention.",
        total=total,
        words=words / total,
        forward=per[FORWARD] / total,
        attention=per["attention"] / total,
    )


def future_attention(_choice: ViewState, _options: TutorialsOptions) -> str:
    """Return sentences on the attention to later tokens in an encoder and in a decoder."""
    reads, writes = get_trace(TIRED), get_trace(CAT, TRANSLATOR)
    encoder, decoder = (later_share(trace, part) for trace, part in ((reads, "encoder"), (writes, "decoder")))
    return (
        _(
            "In all-MiniLM-L6-v2, an encoder, a token gives {encoder:.2f} of its attention to tokens after it, on "
            "average. In the translator's decoder it is {decoder:.2f}, and the largest of all such weights is "
            "{largest:g}: the mask leaves none.",
            encoder=encoder[0],
            decoder=decoder[0],
            largest=decoder[1],
        )
        if decoder[1] == 0
        else _(
            "The encoder gives {encoder:.2f} to later tokens, the decoder {decoder:.2f}.",
            encoder=encoder[0],
            decoder=decoder[0],
        )
    )


def later_share(trace: Trace, part: str) -> tuple[float, float]:
    """Return the mean share of attention to later tokens, and the largest such weight.

    The mean is over all heads and tokens of the stack.
    """
    records = trace.records(part)
    places = [(layer, head) for layer in trace.attending(part) for head in range(records[layer].heads)]
    maps = np.array([np.triu(trace.weights(layer, head, part), 1) for layer, head in places])
    return float(maps.sum(axis=-1).mean()), float(maps.max())


STATIONS = (
    Station(
        gettext_lazy("A vector for a word"),
        gettext_lazy(
            "Words become vectors, so that likeness can be counted. Tables of vectors have one for each word, "
            "whatever it means where it stands; a Transformer starts from such a table, and its layers make of it "
            "what fits the text."
        ),
        (
            link_to("vectors", gettext_lazy("One word, three contexts"), {"show": "contexts"}, text=TIRED),
            link_to("vectors", gettext_lazy("The words of your text"), {"show": "words"}, yours=True),
        ),
        gettext_lazy("“bank” has a vector, which lies between river and money."),
        one_word,
    ),
    Station(
        gettext_lazy("A vocabulary of pieces"),
        gettext_lazy(
            "No table holds every word. WordPiece and byte pairs keep the frequent ones whole and write the others "
            "with pieces; each model has its own cut, and vectors of one say nothing to another."
        ),
        (
            link_to(
                "tokens", gettext_lazy("Both tokenizers, side by side"), {"beside": TRANSLATOR}, model=BERT, text=ODD
            ),
        ),
        gettext_lazy("Tokens are words."),
        subword_pieces,
    ),
    Station(
        gettext_lazy("Where a word stands"),
        gettext_lazy(
            "Sines and cosines for each place were the first way to say it. Tables that are learned came with BERT; "
            "turning queries and keys, or a bias for each distance, came later."
        ),
        (
            link_to("positions", gettext_lazy("The sines of the translator"), {"show": "vectors"}, model=TRANSLATOR),
            link_to("positions", gettext_lazy("One place on: the shift matrix"), {"show": "shift"}, model=TRANSLATOR),
            link_to("positions", "BERT's table", {"show": "vectors"}, model=BERT),
        ),
        gettext_lazy("Transformers use sines and cosines."),
        places,
    ),
    Station(
        gettext_lazy("What a layer is made of"),
        gettext_lazy(
            "Attention moves something between words; the feed-forward part works on each word alone; sums carry the "
            "old vector past both, and norms keep its size."
        ),
        (
            link_to("block", gettext_lazy("Drawn from the model's own parts"), text=TIRED),
            link_to("whole_pass", gettext_lazy("With all its numbers"), text=TIRED),
        ),
        gettext_lazy("Attention is all you need."),
        shares,
    ),
    Station(
        gettext_lazy("Three families"),
        gettext_lazy(
            "Encoders such as BERT see both sides and are there to read. Decoders such as GPT see what stands before "
            "and go on. Encoder and decoder together write one text from another, as the first Transformer did."
        ),
        (
            link_to("explore", gettext_lazy("An encoder's maps"), model=BERT),
            link_to("explore", gettext_lazy("A decoder's maps"), model=TRANSLATOR, text=CAT, part="decoder"),
            link_to("generate", gettext_lazy("A model that goes on, if one is here")),
        ),
        gettext_lazy("They are different kinds of networks."),
        future_attention,
    ),
    Station(
        gettext_lazy("Two models, one text"),
        gettext_lazy(
            "Families differ in what they were trained for as well. The same text in two models, head by head, shows "
            "how far: heads are matched by what they do, since their numbers mean nothing."
        ),
        (
            link_to(
                "compare",
                gettext_lazy("all-MiniLM-L6-v2 beside headlight-bert"),
                {"differs": "model", "beside": BERT},
                text=TIRED,
            ),
        ),
    ),
)
