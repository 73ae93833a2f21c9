"""The theme of embeddings and what came of them: from one vector for a word to three families of Transformers."""

from __future__ import annotations

import numpy as np

from attention.trace import Trace
from attention.vectors import along_levels
from inference.files.embedded import BERT, TRANSLATOR
from inference.questions.anatomy import FORWARD, TOKENS, Anatomy
from inference.questions.positions import PositionsRequest
from inference.questions.tokens import TokenSteps
from inference.questions.vectors import HiddenStates
from ui.pages.tutorials.options import Tutorials
from ui.pages.tutorials.station import TIRED, Station, to, traced
from ui.run.shelf import backend
from ui.show.numbers import scientific
from ui.state.choice import Choice

BANK = (
    "She sat on the bank of the river and watched the boats.",
    "He took the money to the bank and opened an account.",
    "The bank raised the interest on its loans.",
)
ODD = "An unbelievable embedding of words."
CAT = "The black cat sleeps under the table."


def one_word(_choice: Choice, _options: Tutorials) -> str:
    """The cosines of one word in three sentences, before the first layer and after the last."""
    states = [backend().inspect(HiddenStates(text=text)) for text in BANK]
    river, money, loans = (state.levels[:, state.row.pieces.index("bank")] for state in states)
    apart, alike = along_levels(river, money), along_levels(money, loans)
    return (
        f"“bank” beside a river and “bank” with money: where they enter, the cosine is {apart[0]:.2f}, since their "
        f"places differ and nothing else; after the last layer it is {apart[-1]:.2f}. Two banks with money have "
        f"{alike[-1]:.2f} there."
    )


def cut(_choice: Choice, _options: Tutorials) -> str:
    """How many pieces two tokenizers make of the same words."""
    found = [backend().inspect(TokenSteps(model=model, text=ODD)) for model in (BERT, TRANSLATOR)]
    said = []
    for steps in found:
        pieces = [token.shown for token in steps.tokens if not token.special]
        said.append(
            f"{steps.algorithm} with {steps.vocabulary:,} entries makes {len(pieces)} pieces: {' '.join(pieces)}"
        )
    return f"“{ODD}”: {'; '.join(said)}."


def places(_choice: Choice, _options: Tutorials) -> str:
    """The translator's sines beside BERT's table."""
    waves, table = (backend().inspect(PositionsRequest(model=model)).tables[0] for model in (TRANSLATOR, BERT))
    formula = (
        f"is the formula to {scientific(waves.error)}"
        if waves.layout and waves.error is not None
        else "is not the formula"
    )
    other = "is learned and has no formula" if not table.layout else "is a formula as well"
    return (
        f"The translator's table of {waves.vectors.shape[0]} places {formula}: sines and cosines, nothing learned. "
        f"BERT's of {table.vectors.shape[0]} places {other}. Other families turn queries and keys, or add a number for "
        "each distance."
    )


def shares(_choice: Choice, _options: Tutorials) -> str:
    """Where a model's weights are."""
    build = backend().inspect(Anatomy())
    per = {name: sum(part.count for part in build.parts if name in part.name) for name in ("attention", FORWARD)}
    words = sum(part.count for part in build.parts if part.name == TOKENS)
    total = build.total
    return (
        f"Of MiniLM's {total:,} weights, {words / total:.0%} are the vectors of its pieces, {per[FORWARD] / total:.0%} "
        f"are in feed-forward parts and {per['attention'] / total:.0%} in attention."
    )


def ahead(_choice: Choice, _options: Tutorials) -> str:
    """How much attention goes to what comes later, in an encoder and in a decoder."""
    reads, writes = traced(TIRED), traced(CAT, TRANSLATOR)
    encoder, decoder = (later(trace, part) for trace, part in ((reads, "encoder"), (writes, "decoder")))
    return (
        f"In MiniLM, an encoder, a token gives {encoder[0]:.2f} of its attention to tokens after it, on average. In the"
        f" translator's decoder it is {decoder[0]:.2f}, and the largest of all such weights is {decoder[1]:g}: the mask"
        " leaves none."
        if decoder[1] == 0
        else f"The encoder gives {encoder[0]:.2f} to later tokens, the decoder {decoder[0]:.2f}."
    )


def later(trace: Trace, part: str) -> tuple[float, float]:
    """Mean share of attention to later tokens over all heads and tokens, and the largest such weight."""
    places = [(layer, head) for layer, record in enumerate(trace.records(part)) for head in range(record.heads)]
    maps = np.array([np.triu(trace.weights(layer, head, part), 1) for layer, head in places])
    return float(maps.sum(axis=-1).mean()), float(maps.max())


STATIONS = (
    Station(
        "A vector for a word",
        "Words become vectors, so that likeness can be counted. Tables of vectors have one for each word, whatever it "
        "means where it stands; a Transformer starts from such a table, and its layers make of it what fits the text.",
        (
            to("vectors", "One word, three contexts", {"show": "contexts"}, text=TIRED),
            to("vectors", "The words of your text", {"show": "words"}, yours=True),
        ),
        "“bank” has a vector, which lies between river and money.",
        one_word,
    ),
    Station(
        "A vocabulary of pieces",
        "No table holds every word. WordPiece and byte pairs keep the frequent ones whole and write the others with "
        "pieces; each model has its own cut, and vectors of one say nothing to another.",
        (to("tokens", "Both tokenizers, side by side", {"beside": TRANSLATOR}, model=BERT, text=ODD),),
        "Tokens are words.",
        cut,
    ),
    Station(
        "Where a word stands",
        "Sines and cosines for each place were the first way to say it. Tables that are learned came with BERT; "
        "turning queries and keys, or a bias for each distance, came later.",
        (
            to("positions", "The sines of the translator", {"show": "vectors"}, model=TRANSLATOR),
            to("positions", "One place on: the shift matrix", {"show": "shift"}, model=TRANSLATOR),
            to("positions", "BERT's table", {"show": "vectors"}, model=BERT),
        ),
        "Transformers use sines and cosines.",
        places,
    ),
    Station(
        "What a layer is made of",
        "Attention moves something between words; the feed-forward part works on each word alone; sums carry the old "
        "vector past both, and norms keep its size.",
        (
            to("block", "Drawn from the model's own parts", text=TIRED),
            to("whole_pass", "With all its numbers", text=TIRED),
        ),
        "Attention is all you need.",
        shares,
    ),
    Station(
        "Three families",
        "Encoders such as BERT see both sides and are there to read. Decoders such as GPT see what stands before and "
        "go on. Encoder and decoder together write one text from another, as the first Transformer did.",
        (
            to("explore", "An encoder's maps", model=BERT),
            to("explore", "A decoder's maps", model=TRANSLATOR, text=CAT, part="decoder"),
            to("generate", "A model that goes on, if one is here"),
        ),
        "They are different kinds of networks.",
        ahead,
    ),
    Station(
        "Two models, one text",
        "Families differ in what they were trained for as well. The same text in two models, head by head, shows how "
        "far: heads are matched by what they do, since their numbers mean nothing.",
        (to("compare", "MiniLM beside Headlight BERT", {"differs": "model", "beside": BERT}, text=TIRED),),
    ),
)
