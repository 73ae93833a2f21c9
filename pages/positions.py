"""How does a model know word order? Take its positions away and see; then look at what they are made of."""

import streamlit as st

from attention.trace import Trace
from inference import Refusal
from inference.questions.positions import PositionsRequest
from ui.input.composing import compose
from ui.input.models import kind_of
from ui.pages.positions.options import Options
from ui.pages.positions.order import order_test
from ui.pages.positions.scores import scores
from ui.pages.positions.vectors import shifting, vectors
from ui.pages.positions.what_it_holds import pick_view, what_it_holds
from ui.run.reading import read
from ui.run.refusals import say, show
from ui.run.shelf import backend
from ui.show.reading_help import reading_help
from ui.state.choice import Choice
from ui.state.options import own
from ui.state.session import current
from wording import _


def how_to_read() -> None:
    """Three lines for a first-time reader."""
    with reading_help():
        st.markdown(
            _(
                "- Attention by itself compares every token with every other and has no idea who stands where: mix "
                "the tokens up and the map is mixed up in the same way, no number changes. So position is put in: "
                "added as a vector ([arXiv:1706.03762](https://arxiv.org/abs/1706.03762), section 3.5; learned in "
                "BERT, [arXiv:1810.04805](https://arxiv.org/abs/1810.04805)), or worked into the scores.\n"
                "- Into the scores it comes by turning queries and keys ([rotary, "
                "arXiv:2104.09864](https://arxiv.org/abs/2104.09864)), by an amount for each token of distance "
                "([ALiBi, arXiv:2108.12409](https://arxiv.org/abs/2108.12409)), or by a learned number for each range "
                "of distances ([T5, arXiv:1910.10683](https://arxiv.org/abs/1910.10683)).\n"
                "- A mask that hides later tokens tells order as well: a decoder without any positions still learns "
                "some ([arXiv:2203.16634](https://arxiv.org/abs/2203.16634))."
            )
        )


def draw(choice: Choice, trace: Trace, options: Options) -> None:
    """What the model holds in words, then the figure that is chosen."""
    try:
        with st.spinner(_("Looking up what the model holds about positions")):
            held = backend().inspect(PositionsRequest(model=choice.model, revision=choice.revision or None))
    except Refusal as refusal:
        show(refusal)
        return
    say(what_it_holds(held), role="status")
    pick_view()
    if options.show == "test":
        order_test(choice, trace, options)
    elif options.show == "vectors":
        vectors(held, options)
    elif options.show == "shift":
        shifting(held, options)
    else:
        scores(choice, trace, held, options)


st.title(_("How does it know word order?"))
chosen = current()
compose(chosen, kind_of(chosen))
picked = own(Options)
found = read(chosen)
if found is not None:
    draw(chosen, found, picked)
    how_to_read()
