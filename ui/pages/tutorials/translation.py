"""The theme of encoder and decoder: the Transformer as it was published, on one that translates."""

from __future__ import annotations

import json
from math import exp

import numpy as np

from attention.alignment import alignment
from attention.by_hand_layer import Matrices, Rules, whole
from inference.files.embedded import TRANSLATOR
from inference.questions.anatomy import Anatomy
from inference.questions.decoding import NextTarget
from inference.questions.forced import ForcedTarget
from inference.questions.whole_pass import WholePass
from ui.pages.tutorials.families import CAT, later
from ui.pages.tutorials.options import Tutorials
from ui.pages.tutorials.station import Station, to, traced
from ui.places import ASSETS
from ui.run.shelf import backend
from ui.show.numbers import percent, scientific
from ui.state.choice import Choice

GIVEN = "Le chien noir dort sous la table."  # with a dog in the cat's place


def two_stacks(_choice: Choice, _options: Tutorials) -> str:
    """The translator's sizes."""
    build = backend().inspect(Anatomy(model=TRANSLATOR))
    parts = [f"{stack.layers} layers of {stack.attention.heads} heads in its {stack.part}" for stack in build.stacks]
    tables = sum(part.count for part in build.parts if not part.layers and part.name == "token embeddings")
    return (
        f"The translator in this app is a small one: {' and '.join(parts)}, vectors of {build.width} numbers, "
        f"{build.total / 1e6:.1f} million weights. One table of {tables / 1e6:.1f} million serves what is read, what is"
        " written, and the choice of the next piece."
    )


def masked(_choice: Choice, _options: Tutorials) -> str:
    """How much each side sees of what comes later."""
    trace = traced(CAT, TRANSLATOR)
    reads, writes = later(trace, "encoder"), later(trace, "decoder")
    return (
        f"On “{CAT}” a token of the encoder gives {reads[0]:.2f} of its attention to later ones, on average; one of "
        f"the decoder {writes[0]:.2f}, the largest such weight being {writes[1]:g}. The mask is put on the scores, "
        "before the softmax, so that what is left still sums to one."
    )


def across(_choice: Choice, _options: Tutorials) -> str:
    """Which source word each target word of the example looks at, the last layer's heads together."""
    trace = traced(CAT, TRANSLATOR)
    last = len(trace.records("cross")) - 1
    found = [alignment(trace, last, head, by_words=True) for head in range(trace.records("cross")[last].heads)]
    weights, one = np.mean([each.weights for each in found], axis=0), found[0]
    pairs = {}
    for row, cell in enumerate(one.target):
        best = int(weights[row].argmax())
        pairs[cell.text] = f"“{cell.text}” from “{one.source[best].text}” ({weights[row, best]:.2f})"
    crossed = ", ".join(pairs[word] for word in ("chat", "noir") if word in pairs)
    return (
        f"“{trace.target_text}” is what it writes. In its last layer, all heads together: {crossed}; noun and "
        "adjective stand the other way round in French, and the weights cross."
        if crossed
        else f"It writes “{trace.target_text}”."
    )


def forced(_choice: Choice, _options: Tutorials) -> str:
    """A given translation read at once and step by step, and what a wrong word does."""
    tokens = traced(CAT, TRANSLATOR, GIVEN).target
    written = () if tokens is None else tokens.ids[1:]
    pieces = () if tokens is None else tokens.pieces[1:]
    at_once = backend().predict(ForcedTarget(model=TRANSLATOR, text=CAT, written=written))
    apart = 0.0
    for at, token in enumerate(written):
        step = (
            backend()
            .predict(NextTarget(model=TRANSLATOR, text=CAT, written=written[:at], also=(token,), top=1))
            .candidates
        )
        alone = next(one.probability for one in step if one.token == token)
        apart = max(apart, abs(alone - exp(at_once.logs[0, at])))
    worst = int(at_once.logs[0].argmin())
    following = worst + 1 if worst + 1 < len(written) else worst
    return (
        f"Given “{GIVEN}”, one pass reads all {len(written)} tokens and tells each; asked one at a time it says the "
        f"same, to {scientific(apart)}. “{pieces[worst]}” gets {percent(exp(at_once.logs[0, worst]))}, where it would "
        f"write “{at_once.pieces[0][worst]}”. It reads on as if that were right: “{pieces[following]}” after it gets "
        f"{percent(exp(at_once.logs[0, following]))}."
    )


def words_read_off(_choice: Choice, _options: Tutorials) -> str:
    """The example's translation, with the rest of the layer and without."""
    presets = json.loads((ASSETS / "by_hand.json").read_text(encoding="utf-8"))
    given = next(preset for preset in presets if preset["said"])
    names = ("x", "w_q", "w_k", "w_v", "w_o", "w_1", "w_2", "e")
    matrices = Matrices(**{name: np.array(given[name], float) for name in names})
    found = []
    for layer in (True, False):
        chances = whole(matrices, Rules(given["heads"], layer=layer)).chances
        found.append([given["words"][at] for at in chances.argmax(axis=1)])
    full, alone = (" ".join(words) for words in found)
    said = " ".join(given["said"])
    agree = "as printed" if full == said else f"where “{said}” is printed"
    return (
        f"With residual sums and norms its matrices give “{full}”, {agree}; with attention alone “{alone}”. "
        "Nothing in it was trained: each word's own column is carried past attention."
        if full != alone
        else f"Its matrices give “{full}”, {agree}, with attention alone as well."
    )


def computed(_choice: Choice, _options: Tutorials) -> str:
    """How near numpy comes to the translator's pass."""
    row = traced(CAT, TRANSLATOR).target
    passed = backend().inspect(WholePass(model=TRANSLATOR, text=CAT, target=() if row is None else row.ids))
    return (
        f"{len(passed.stages)} stages, encoder and decoder, computed anew from ids and weights, differ from the model "
        f"by at most {scientific(passed.largest.away)}."
    )


STATIONS = (
    Station(
        "Two stacks",
        "The first Transformer translates: an encoder reads the source, a decoder writes the translation, and each of "
        "the decoder's layers looks across at what the encoder made.",
        (
            to("block", "Both stacks, drawn from the model", model=TRANSLATOR, text=CAT),
            to("translate", "A translation", model=TRANSLATOR, text=CAT),
        ),
        "A Transformer has six layers on each side, as in the paper.",
        two_stacks,
    ),
    Station(
        "The encoder sees all, the decoder what is written",
        "In the encoder every token looks at every other. In the decoder a mask hides what comes later: it will not be "
        "there when the model writes.",
        (
            to("explore", "The encoder's heads", model=TRANSLATOR, text=CAT, part="encoder"),
            to("explore", "The decoder's heads", model=TRANSLATOR, text=CAT, part="decoder"),
        ),
        "The mask sets weights to zero.",
        masked,
    ),
    Station(
        "Across to the source",
        "Queries come from the decoder, keys and values from the encoder: each step looks at the source for what it "
        "writes next. Read at the step that writes a word, the weights come near to a dictionary.",
        (
            to("translate", "Which word from which", {"show": "words"}, model=TRANSLATOR, text=CAT),
            to("translate", "Which head aligns best?", {"show": "best"}, model=TRANSLATOR, text=CAT),
        ),
        "Cross-attention runs along the diagonal.",
        across,
    ),
    Station(
        "Teacher forcing",
        "In training the decoder is given the true translation, one place on, and tells every next token at once; its "
        "own mistakes are never read. When it writes, each step reads what it wrote itself.",
        (
            to("translate", "A translation that you give", {"way": "own"}, model=TRANSLATOR, text=CAT, target=GIVEN),
            to("translate", "One step after the other", {"show": "step"}, model=TRANSLATOR, text=CAT),
        ),
        "A decoder learns by writing.",
        forced,
    ),
    Station(
        "Greedy, or several ways at once",
        "The likeliest token at each step need not begin the likeliest sentence. Beam search follows a few ways and "
        "keeps those whose tokens together are likeliest.",
        (to("translate", "The beams as a tree", {"show": "beams"}, model=TRANSLATOR, text=CAT),),
    ),
    Station(
        "“french je ai aimer”",
        "The example of four words ends in a translation. Its vocabulary has four words, its matrices were made up, "
        "and all of them can be changed.",
        (
            to("by_hand", "With the rest of the layer", {"preset": "tutorial"}),
            to("by_hand", "With attention alone", {"preset": "tutorial", "onward": "0"}),
            to("by_hand", "Four heads of one column, d_k = 1", {"preset": "tutorial", "heads": "4"}),
        ),
        "Attention turns “french je ai aimer” into “I am like French”.",
        words_read_off,
    ),
    Station(
        "The whole pass",
        "Encoder, decoder and what lies between, stage by stage, down to the probability of a piece.",
        (to("whole_pass", "All stages of the translator", model=TRANSLATOR, text=CAT),),
        "It is too large to be followed by hand.",
        computed,
    ),
)
