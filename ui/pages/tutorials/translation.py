"""Stations on encoder and decoder: the original Transformer, shown with a translation model."""

from __future__ import annotations

import json
from math import exp

import numpy as np

from attention.alignment import alignment
from attention.toy_example import Matrices, ToyRules, compute_example
from i18n import _, gettext_lazy, translate
from inference.files.embedded import TRANSLATOR
from inference.tasks.anatomy import Anatomy
from inference.tasks.decoding import ForcedTarget, NextTarget
from inference.tasks.whole_pass import WholePass
from ui.pages.tutorials.families import CAT, later_share
from ui.pages.tutorials.options import TutorialsOptions
from ui.pages.tutorials.station import Station, get_trace, link_to
from ui.paths import ASSETS
from ui.run.services import get_backend
from ui.show.text import format_and_list, format_comma_list, percent, scientific
from ui.state.view_state import ViewState

GIVEN = "Le chien noir dort sous la table."  # a wrong translation of CAT: it has "chien" for "cat"


def two_stacks(_choice: ViewState, _options: TutorialsOptions) -> str:
    """Return a sentence with the sizes of the translator's stacks."""
    build = get_backend().inspect(Anatomy(model=TRANSLATOR))
    parts = [
        _(
            "{layers} layers of {heads} heads in its {part}",
            layers=stack.layers,
            heads=stack.attention.heads,
            part=translate(stack.part),
        )
        for stack in build.stacks
    ]
    tables = sum(part.count for part in build.parts if not part.layers and part.name == "token embeddings")
    return _(
        "The translator in this app is a small one: {stacks}, vectors of {width} numbers, "
        "{millions:.1f} million weights. One table of {tables:.1f} million serves what is read, what is"
        " written, and the choice of the next piece.",
        stacks=format_and_list(parts),
        width=build.width,
        millions=build.total / 1e6,
        tables=tables / 1e6,
    )


def future_share(_choice: ViewState, _options: TutorialsOptions) -> str:
    """Return a sentence on the attention to later tokens in the encoder and in the decoder."""
    trace = get_trace(CAT, TRANSLATOR)
    reads, writes = later_share(trace, "encoder"), later_share(trace, "decoder")
    return _(
        "On “{text}” a token of the encoder gives {encoder:.2f} of its attention to later ones, on average; one of "
        "the decoder {decoder:.2f}, the largest such weight being {largest:g}. The mask is put on the scores, "
        "before the softmax, so that what is left still sums to one.",
        text=CAT,
        encoder=reads[0],
        decoder=writes[0],
        largest=writes[1],
    )


def aligned_words(_choice: ViewState, _options: TutorialsOptions) -> str:
    """Return a sentence with aligned source words of the example, by the mean of the last layer's heads."""
    trace = get_trace(CAT, TRANSLATOR)
    last = len(trace.records("cross")) - 1
    found = [alignment(trace, last, head, by_words=True) for head in range(trace.records("cross")[last].heads)]
    weights, one = np.mean([each.weights for each in found], axis=0), found[0]
    pairs = {}
    for row, cell in enumerate(one.target):
        best = int(weights[row].argmax())
        pairs[cell.text] = _(
            "“{word}” from “{source}” ({weight:.2f})",
            word=cell.text,
            source=one.source[best].text,
            weight=weights[row, best],
        )
    crossed = [pairs[word] for word in ("chat", "noir") if word in pairs]
    return (
        _(
            "“{written}” is what it writes. In its last layer, all heads together: {crossed}; noun and "
            "adjective stand the other way round in French, and the weights cross.",
            written=trace.target_text,
            crossed=format_comma_list(crossed),
        )
        if crossed
        else _("It writes “{written}”.", written=trace.target_text)
    )


def teacher_forcing(_choice: ViewState, _options: TutorialsOptions) -> str:
    """Return sentences that compare teacher forcing with single steps and show a wrong word's effect."""
    tokens = get_trace(CAT, TRANSLATOR, GIVEN).target
    written = () if tokens is None else tokens.ids[1:]
    pieces = () if tokens is None else tokens.pieces[1:]
    at_once = get_backend().predict(ForcedTarget(model=TRANSLATOR, text=CAT, written=written))
    apart = 0.0
    for at, token in enumerate(written):
        step = (
            get_backend()
            .predict(NextTarget(model=TRANSLATOR, text=CAT, written=written[:at], also=(token,), top=1))
            .candidates
        )
        alone = next(one.probability for one in step if one.token == token)
        apart = max(apart, abs(alone - exp(at_once.logs[0, at])))
    worst = int(at_once.logs[0].argmin())
    following = worst + 1 if worst + 1 < len(written) else worst
    return _(
        "Given “{text}”, one pass reads all {tokens} tokens and tells each; asked one at a time it says the same, to "
        "{apart}. “{piece}” gets {chance}, where it would write “{own}”. It reads on as if that were right: "
        "“{following}” after it gets {following_chance}.",
        text=GIVEN,
        tokens=len(written),
        apart=scientific(apart),
        piece=pieces[worst],
        chance=percent(exp(at_once.logs[0, worst])),
        own=at_once.pieces[0][worst],
        following=pieces[following],
        following_chance=percent(exp(at_once.logs[0, following])),
    )


def words_read_off(_choice: ViewState, _options: TutorialsOptions) -> str:
    """Return a sentence with the example's translation by the whole layer and by attention only."""
    presets = json.loads((ASSETS / "by_hand.json").read_text(encoding="utf-8"))
    given = next(preset for preset in presets if preset["said"])
    names = ("x", "w_q", "w_k", "w_v", "w_o", "w_1", "w_2", "e")
    matrices = Matrices(**{name: np.array(given[name], float) for name in names})
    found = []
    for layer in (True, False):
        chances = compute_example(matrices, ToyRules(given["heads"], layer=layer)).chances
        found.append([given["words"][at] for at in chances.argmax(axis=1)])
    full, alone = (" ".join(words) for words in found)
    said = " ".join(given["said"])
    agree = _("as printed") if full == said else _("where “{said}” is printed", said=said)
    return (
        _(
            "With residual sums and norms its matrices give “{full}”, {agree}; with attention alone “{alone}”. "
            "Nothing in it was trained: each word's own column is carried past attention.",
            full=full,
            agree=agree,
            alone=alone,
        )
        if full != alone
        else _("Its matrices give “{full}”, {agree}, with attention alone as well.", full=full, agree=agree)
    )


def numpy_error(_choice: ViewState, _options: TutorialsOptions) -> str:
    """Return a sentence with numpy's largest error on the translator's forward pass."""
    row = get_trace(CAT, TRANSLATOR).target
    passed = get_backend().inspect(WholePass(model=TRANSLATOR, text=CAT, target=() if row is None else row.ids))
    return _(
        "{stages} stages, encoder and decoder, computed anew from ids and weights, differ from the model "
        "by at most {away}.",
        stages=len(passed.stages),
        away=scientific(passed.largest.away),
    )


STATIONS = (
    Station(
        gettext_lazy("Two stacks"),
        gettext_lazy(
            "The first Transformer translates: an encoder reads the source, a decoder writes the translation, and "
            "each of the decoder's layers looks across at what the encoder made."
        ),
        (
            link_to("block", gettext_lazy("Both stacks, drawn from the model"), model=TRANSLATOR, text=CAT),
            link_to("translate", "A translation", model=TRANSLATOR, text=CAT),
        ),
        gettext_lazy("A Transformer has six layers on each side, as in the paper."),
        two_stacks,
    ),
    Station(
        gettext_lazy("The encoder sees all, the decoder what is written"),
        gettext_lazy(
            "In the encoder every token looks at every other. In the decoder a mask hides what comes later: it will "
            "not be there when the model writes."
        ),
        (
            link_to("explore", gettext_lazy("The encoder's heads"), model=TRANSLATOR, text=CAT, part="encoder"),
            link_to("explore", gettext_lazy("The decoder's heads"), model=TRANSLATOR, text=CAT, part="decoder"),
        ),
        gettext_lazy("The mask sets weights to zero."),
        future_share,
    ),
    Station(
        gettext_lazy("Across to the source"),
        gettext_lazy(
            "Queries come from the decoder, keys and values from the encoder: each step looks at the source for what "
            "it writes next. Read at the step that writes a word, the weights come near to a dictionary."
        ),
        (
            link_to("translate", gettext_lazy("Alignment"), {"show": "words"}, model=TRANSLATOR, text=CAT),
            link_to("translate", gettext_lazy("Head scores"), {"show": "best"}, model=TRANSLATOR, text=CAT),
        ),
        gettext_lazy("Cross-attention runs along the diagonal."),
        aligned_words,
    ),
    Station(
        gettext_lazy("Teacher forcing"),
        gettext_lazy(
            "In training the decoder is given the true translation, one place on, and tells every next token at once; "
            "its own mistakes are never read. When it writes, each step reads what it wrote itself."
        ),
        (
            link_to(
                "translate",
                gettext_lazy("A translation that you give"),
                {"way": "own"},
                model=TRANSLATOR,
                text=CAT,
                target=GIVEN,
            ),
            link_to(
                "translate", gettext_lazy("One step after the other"), {"show": "step"}, model=TRANSLATOR, text=CAT
            ),
        ),
        gettext_lazy("A decoder learns by writing."),
        teacher_forcing,
    ),
    Station(
        gettext_lazy("Greedy, or several ways at once"),
        gettext_lazy(
            "The likeliest token at each step need not begin the likeliest sentence. Beam search follows a few ways "
            "and keeps those whose tokens together are likeliest."
        ),
        (link_to("translate", gettext_lazy("The beams as a tree"), {"show": "beams"}, model=TRANSLATOR, text=CAT),),
    ),
    Station(
        gettext_lazy("“french je ai aimer”"),
        gettext_lazy(
            "The example of four words ends in a translation. Its vocabulary has four words, its matrices were made "
            "up, and all of them can be changed."
        ),
        (
            link_to("by_hand", gettext_lazy("With the rest of the layer"), {"preset": "tutorial"}),
            link_to("by_hand", gettext_lazy("With attention alone"), {"preset": "tutorial", "onward": "0"}),
            link_to("by_hand", gettext_lazy("Four heads of one column, d_k = 1"), {"preset": "tutorial", "heads": "4"}),
        ),
        gettext_lazy("Attention turns “french je ai aimer” into “I am like French”."),
        words_read_off,
    ),
    Station(
        gettext_lazy("The whole pass"),
        gettext_lazy("Encoder, decoder and what lies between, stage by stage, down to the probability of a piece."),
        (link_to("whole_pass", gettext_lazy("All stages of the translator"), model=TRANSLATOR, text=CAT),),
        gettext_lazy("It is too large to be followed by hand."),
        numpy_error,
    ),
)
