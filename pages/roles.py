"""What is each head for? Where its attention goes, in words and shares, and which heads are alike."""

import streamlit as st

from inference.errors import Refusal
from ui.input.composing import compose
from ui.input.models import kind_of
from ui.input.parts import pick_part
from ui.input.picking import control
from ui.pages.roles.evidence import draw_map, named, table
from ui.pages.roles.known import Known, from_sentences, from_trace
from ui.pages.roles.likeness import likeness
from ui.pages.roles.opened import opened
from ui.pages.roles.options import SOURCES, Roles
from ui.pages.roles.relations import Relations, head_relations
from ui.run.reading import read
from ui.run.refusals import say, show
from ui.run.shelf import Look
from ui.show.reading_help import reading_help
from ui.state.options import own
from ui.state.session import current
from wording import _, sentence, told

SHARE = sentence("A head is named after a role when at least this share of its attention goes there.")
SEEN = sentence("The text above, or the 60 and 40 sentences of the page Measure: more tokens, steadier shares")
RELATIONS = sentence(
    "Also scores every head on 60 and 40 annotated sentences and names the relation that it finds more often than a"
    " rule without a model, on sentences that the name was not chosen on."
)


def how_to_read() -> None:
    """Three lines for a first-time reader."""
    with reading_help():
        st.markdown(
            _(
                "- A role says where a head's attention goes, measured: the mean share over all tokens but special "
                "ones ([arXiv:1906.04341](https://arxiv.org/abs/1906.04341)). One short text shows little; 100 "
                "sentences more.\n"
                "- A head that looks at the first token or a separator often takes little from it: that token's value "
                "vector is short, so little is added ([arXiv:2004.10102](https://arxiv.org/abs/2004.10102)). Language "
                "models look at their first tokens whatever these mean, as at a sink "
                "([arXiv:2309.17453](https://arxiv.org/abs/2309.17453)).\n"
                "- A relation's name is chosen on one half of the annotated sentences and told on the other; pick a "
                "head to see every sentence behind its name.\n"
                "- Heads with one name may still do different things, and a head without one may matter: removing it, "
                "on the page Cause, shows that ([arXiv:1905.09418](https://arxiv.org/abs/1905.09418))."
            )
        )


def seen(options: Roles) -> Known | None:
    """The evidence from what the reader chose."""
    choice = current()
    if options.source == "sentences":
        return from_sentences(choice)
    trace = read(choice)
    if trace is None:
        return None
    pick_part(trace, Look(part=choice.part if choice.part in trace.parts else ""))
    if choice.part == "cross":
        say(
            _("Roles are told of a text that looks at itself; here it is the encoder's, not the cross-attention."),
            "status",
        )
    try:
        return from_trace(trace, choice)
    except Refusal as refusal:
        show(refusal)
        return None


st.title(_("What is each head for?"))
choice_now, options_now = current(), own(Roles)
compose(choice_now, kind_of(choice_now))
left, middle, right = st.columns(3)
control(Roles, "source", left.segmented_control, _("Seen in"), list(SOURCES), format_func=SOURCES.get, required=True,
        help=told(SEEN))  # fmt: skip
control(Roles, "share", middle.slider, _("A role takes at least"), 10, 100, step=5, format="%d %%", help=told(SHARE))
control(Roles, "relations", right.checkbox, _("Relations too"), help=told(RELATIONS))
known_now = seen(options_now)
if known_now is not None:
    roles_now = named(known_now, options_now)
    two_sided = kind_of(choice_now) == "encoder-decoder"
    found_now = Relations()
    # Annotated sentences are read by the chosen model, by its encoder where it has two sides.
    if options_now.relations and not choice_now.opened and not (two_sided and choice_now.part == "decoder"):
        found_now = head_relations(choice_now)
    draw_map(known_now, choice_now, options_now, roles_now, found_now)
    table(known_now, choice_now, options_now, roles_now, found_now)
    opened(known_now, roles_now, found_now, options_now, choice_now)
    likeness(known_now, choice_now, options_now, roles_now)
how_to_read()
