"""Stations on attention: from recurrent networks to the whole Transformer layer."""

from __future__ import annotations

import json

import numpy as np

from attention.complexity import TABLE, ComplexitySetting
from attention.head_search import LEAST, follows
from attention.positions import shuffle_tokens
from attention.record import Record
from attention.softmax import change_softmax_rules, spreads
from attention.toy_example import attend
from i18n import _, gettext_lazy, ngettext
from inference.tasks.anatomy import Anatomy
from inference.tasks.positions import OrderRequest
from inference.tasks.whole_pass import WholePass
from ui.input.controls import head_name
from ui.pages.tutorials.options import TutorialsOptions
from ui.pages.tutorials.station import TIRED, WIDE, Station, get_trace, link_to
from ui.paths import ASSETS
from ui.run.services import get_backend
from ui.show.text import join_sentences, scientific
from ui.state.view_state import ViewState

STEEP = 0.9  # a row is called steep if its largest weight exceeds this value


def cost(choice: ViewState, _options: TutorialsOptions) -> str:
    """Return sentences that compare the costs of self-attention and recurrence for the reader's text.

    The formulas are those of the page Why attention.
    """
    n = len(get_trace(choice.text, cut=choice.cut).source)
    width = get_backend().inspect(Anatomy()).width
    rows = {row.name: row for row in TABLE}
    own, other = rows["Self-attention"], rows["Recurrent"]
    at, setting = np.array([float(n)]), ComplexitySetting(width)
    one, two = (float(row.cost_at(at, setting)[0]) for row in (own, other))
    steps = [int(row.steps_at(at, setting)[0]) for row in (own, other)]
    costs = {"attention": one, "recurrent": two, "width": width}
    return join_sentences(
        _("Your text has {n} tokens, a vector {width} numbers.", n=n, width=width),
        _(
            "By formula, attention multiplies {attention:,.0f} times in a layer (n² · d), a recurrent one "
            "{recurrent:,.0f} times (n · d²): here it costs less, and beyond n = {width} it costs more.",
            **costs,
        )
        if one < two
        else _(
            "By formula, attention multiplies {attention:,.0f} times in a layer (n² · d), a recurrent one "
            "{recurrent:,.0f} times (n · d²): here it costs more, and beyond n = {width} it costs more.",
            **costs,
        ),
        _(
            "One after the other must be done: {attention} step of attention, {recurrent} of the other.",
            attention=steps[0],
            recurrent=steps[1],
        ),
    )


def own_key(_choice: ViewState, _options: TutorialsOptions) -> str:
    """Return a sentence with the best key for the query of “it”, in the head that links it to “animal”."""
    trace = get_trace(TIRED)
    it, animal = trace.tokens.index("it"), trace.tokens.index("animal")
    layer, head = _best_head(trace.rows(it)[..., animal])
    order = np.argsort(-trace.scores(layer, head)[it]).tolist()
    return _(
        "In {head}, the query of “it” fits the key of “{token}” best; its own key comes in place {place} of {count}. "
        "Query and key are made by two matrices, so no token need fit itself.",
        head=head_name(layer, head),
        token=trace.tokens[order[0]],
        place=order.index(it) + 1,
        count=len(order),
    )


def printed_weights(_choice: ViewState, _options: TutorialsOptions) -> str:
    """Return sentences that compare a tutorial's printed weights with the softmax of its own matrices."""
    presets = json.loads((ASSETS / "by_hand.json").read_text(encoding="utf-8"))
    given = next(preset for preset in presets if preset["printed"])
    x, w_q, w_k, w_v = (np.array(given[name], float) for name in ("x", "w_q", "w_k", "w_v"))
    shown = np.array(given["printed"])
    worked = attend(x, w_q, w_k, w_v, given["heads"])
    true, scores = worked.weights[0, : len(shown)], worked.scaled[0, : len(shown)]
    kept = sum(np.array_equal(row.argsort(), score.argsort()) for row, score in zip(shown, scores, strict=True))
    numbers = {"first": given["tokens"][0], "printed": _numbers(shown[0]), "true": _numbers(true[0])}
    if kept == len(shown):
        return _("For “{first}” it prints {printed}; the softmax is {true}.", **numbers)
    return join_sentences(
        _(
            "For “{first}” it prints {printed}; the softmax of its matrices is {true}, up to {apart:.2f} apart.",
            apart=np.abs(shown - true).max(),
            **numbers,
        ),
        _describe_order(kept, len(shown)),
    )


def _describe_order(kept: int, rows: int) -> str:
    """Return a sentence on the number of printed rows that keep the order of their scores.

    ``kept`` is less than ``rows``.
    """
    if not kept:
        return _(
            "A softmax keeps the order of its scores; of the {rows} printed rows none does: no scale makes a softmax "
            "of them.",
            rows=rows,
        )
    return ngettext(
        "A softmax keeps the order of its scores; of the {rows} printed rows {kept} does: no scale makes a softmax of "
        "them.",
        "A softmax keeps the order of its scores; of the {rows} printed rows {kept} do: no scale makes a softmax of "
        "them.",
        kept,
        rows=rows,
        kept=kept,
    )


def unscaled_scores(_choice: ViewState, _options: TutorialsOptions) -> str:
    """Return sentences with the mean entropy of all heads in bits, with and without division by √d_k."""
    trace = get_trace(TIRED)
    rows = np.arange(len(trace.source))
    width = trace.query(trace.attending()[0], 0).shape[1]
    records = [record for record in trace.records() if isinstance(record, Record)]
    divided = np.mean([spreads(record, rows) for record in records])
    alone = [change_softmax_rules(record, scale=1.0) for record in records]
    raw = np.mean([spreads(record, rows) for record in alone])
    largest = [record.weights(head).max(axis=-1) for record in alone for head in range(record.heads)]
    return (
        _(
            "On “{text}” the rows of all-MiniLM-L6-v2's {heads} heads spread over {divided:.2f} bits on "
            "average. With the same queries and keys, undivided by √{width}, they spread over {raw:.2f}. Then "
            "{share:.0%} of the rows give a single token more than {steep}; a softmax that steep passes next to no "
            "gradient on.",
            text=TIRED,
            heads=trace.layers * trace.heads,
            divided=divided,
            width=width,
            raw=raw,
            share=float(np.mean(np.array(largest) > STEEP)),
            steep=STEEP,
        )
        if raw < divided / 2
        else _("The rows spread over {divided:.2f} bits, undivided over {raw:.2f}.", divided=divided, raw=raw)
    )


def described_heads(_choice: ViewState, _options: TutorialsOptions) -> str:
    """Return sentences on the heads that change from “animal” to “street” if “tired” becomes “wide”."""
    tired, wide = get_trace(TIRED), get_trace(WIDE)
    it, animal, street = (tired.tokens.index(word) for word in ("it", "animal", "street"))
    one, other = tired.rows(it), wide.rows(it)
    layer, head = _best_head(one[..., animal])
    turned = follows(one[..., animal] - one[..., street], other[..., animal] - other[..., street])
    before, after = one[layer, head], other[layer, head]
    then = {"animal": after[animal], "street": after[street]}
    return join_sentences(
        _(
            "{head} gives “animal” {animal:.2f} and “street” {street:.2f} of the attention of “it”.",
            head=head_name(layer, head).capitalize(),
            animal=before[animal],
            street=before[street],
        ),
        _(
            "With “wide” in the place of “tired” the street is meant, and it still prefers the animal: {animal:.2f} to "
            "{street:.2f}.",
            **then,
        )
        if after[animal] > after[street]
        else _(
            "With “wide” in the place of “tired” the street is meant, and it no longer prefers the animal: "
            "{animal:.2f} to {street:.2f}.",
            **then,
        ),
        _(
            "Of {heads} heads, {turned} change from animal to street, each by more than {least}.",
            heads=turned.size,
            turned=int(turned.sum()),
            least=LEAST,
        ),
    )


def order(_choice: ViewState, _options: TutorialsOptions) -> str:
    """Return sentences on the effect of shuffling the words, with and without position embeddings.

    The maps of the shuffled text are compared with the text's own maps, shuffled in the same way.
    """
    trace = get_trace(TIRED)
    found = get_backend().inspect(OrderRequest(text=TIRED, order=shuffle_tokens(trace.source, 1)))
    having, lacking = float(found.having.differences.max()), float(found.lacking.differences.max())
    return _(
        "With its words shuffled, all-MiniLM-L6-v2's weights differ by up to {having:.2f} from the same weights moved "
        "along. With positions taken away they differ by {lacking}: attention itself sees no order at all.",
        having=having,
        lacking=scientific(lacking),
    )


def numpy_error(_choice: ViewState, _options: TutorialsOptions) -> str:
    """Return a sentence with numpy's largest error on the whole forward pass."""
    passed = get_backend().inspect(WholePass(text=TIRED))
    return _(
        "All {stages} stages of this pass, computed anew from ids and weights, differ from the model by at"
        " most {away}. Nothing else is in it.",
        stages=len(passed.stages),
        away=scientific(passed.largest.away),
    )


def _best_head(maps: np.ndarray) -> tuple[int, int]:
    """Return the (layer, head) of the largest number in an array of shape (layer, head)."""
    layer, head = np.unravel_index(int(maps.argmax()), maps.shape)
    return int(layer), int(head)


def _numbers(row: np.ndarray) -> str:
    return " ".join(f"{number:.2f}" for number in row)


STATIONS = (
    Station(
        gettext_lazy("Not one word after the other"),
        gettext_lazy(
            "A recurrent network carries what it has read from word to word, so that two words far apart are joined "
            "by as many steps as lie between them. Attention joins any two in one step and does all of them at once; "
            "the price is a number for every pair."
        ),
        (link_to("why_attention", gettext_lazy("Costs and paths, with your text's length"), yours=True),),
        gettext_lazy("Attention is cheaper than a recurrent network."),
        cost,
    ),
    Station(
        gettext_lazy("Query, key and value"),
        gettext_lazy(
            "From each word's vector three are made: what it asks for, what it is found by, and what it hands on. "
            "Query times key is a score; a softmax makes shares of a row of scores; the values are mixed by these "
            "shares."
        ),
        (
            link_to("by_hand", gettext_lazy("On four small words, any number changed"), {"preset": "sentence"}),
            link_to("step_by_step", gettext_lazy("On a real layer"), text=TIRED, layer=3, head=1),
        ),
        gettext_lazy("A word's query looks for words that are like it, itself first."),
        own_key,
    ),
    Station(
        gettext_lazy("The example of four words"),
        gettext_lazy(
            "A well-known example computes attention on four one-hot words. Its matrices are here to be changed, and "
            "what is printed stands beside what they give."
        ),
        (link_to("by_hand", gettext_lazy("The example, cell by cell"), {"preset": "tutorial"}),),
        gettext_lazy("The weights printed with the example are the softmax of its scores."),
        printed_weights,
    ),
    Station(
        gettext_lazy("Why the scores are divided"),
        gettext_lazy(
            "A dot product of vectors with many dimensions is large, and e to a large number drowns all others. So "
            "scores are divided by √d_k before the softmax, where d_k is the number of dimensions."
        ),
        (
            link_to("by_hand", gettext_lazy("What the gradient feels of it"), {"preset": "sentence", "scaled": "0"}),
            link_to(
                "step_by_step",
                gettext_lazy("The same on a real head"),
                {"show": "rules", "scaling": "none"},
                text=TIRED,
            ),
        ),
        gettext_lazy("√d_k is a detail that keeps numbers small."),
        unscaled_scores,
    ),
    Station(
        gettext_lazy("Many heads, and the word “it”"),
        gettext_lazy(
            "A layer compares its words several times over, each head with matrices of its own. One of them is famous "
            "for joining a pronoun to its noun."
        ),
        (
            link_to("explore", gettext_lazy("All heads at once"), text=TIRED),
            link_to("compare", gettext_lazy("Tired beside wide"), {"differs": "text"}, text=TIRED),
            link_to("roles", gettext_lazy("What each head is like"), text=TIRED),
        ),
        gettext_lazy("The head understands whom “it” means."),
        described_heads,
    ),
    Station(
        gettext_lazy("Where order comes from"),
        gettext_lazy(
            "Shuffle the words and attention shuffles its map along, no more: it has no idea who stands where. "
            "Positions are added before the first layer, and with them a shuffled text is another text."
        ),
        (link_to("positions", gettext_lazy("The order test on your text"), {"show": "test"}, yours=True),),
        gettext_lazy("Attention reads the words in their order."),
        order,
    ),
    Station(
        gettext_lazy("All that a layer does"),
        gettext_lazy(
            "Around attention stand sums, norms and a part of two matrices for each word alone. The page of the whole "
            "pass has every number of it, from the ids to the end, and each opens its own sum."
        ),
        (
            link_to("whole_pass", gettext_lazy("The whole pass of your text"), yours=True),
            link_to("block", gettext_lazy("What a layer is made of"), text=TIRED),
        ),
        gettext_lazy("Nobody can see what happens inside."),
        numpy_error,
    ),
    Station(
        gettext_lazy("From looking to mattering"),
        gettext_lazy(
            "A head that looks at a word need not use it. Take heads away one by one, or ask several explanations "
            "about the same answer, and see what stays."
        ),
        (
            link_to("cause", gettext_lazy("Take heads away"), text=TIRED),
            link_to("agreement", gettext_lazy("Do explanations agree?"), text=TIRED),
        ),
    ),
)
