"""The view Roles: each head's role by its shares of attention, and the similarity of heads."""

import streamlit as st

from i18n import _
from inference.errors import UserError
from ui.input.composing import compose
from ui.input.controls import bound_widget
from ui.input.view_options import pick_part
from ui.pages.roles.evidence import draw_map, head_roles, table
from ui.pages.roles.gathering import HeadEvidence, from_sentences, from_trace
from ui.pages.roles.head_examples import draw_examples
from ui.pages.roles.options import RolesOptions
from ui.pages.roles.relations import Relations, head_relations
from ui.pages.roles.similarity import draw_similarity
from ui.run.notices import show_error, show_notice
from ui.run.page_model import kind_of
from ui.run.services import ViewOptions
from ui.run.traces import read_trace
from ui.show.reading_help import reading_help
from ui.state.params import get_params
from ui.state.session import get_view_state


def how_to_read() -> None:
    """Draw the help text."""
    with reading_help():
        st.markdown(
            _(
                "- A role is the mean share of attention over all tokens but special tokens "
                "([arXiv:1906.04341](https://arxiv.org/abs/1906.04341)).\n"
                "- The first token and separators often act as a sink "
                "([arXiv:2309.17453](https://arxiv.org/abs/2309.17453)). Their value vectors are short, so they "
                "add little ([arXiv:2004.10102](https://arxiv.org/abs/2004.10102)).\n"
                "- A head without a role may still matter; ablation shows that "
                "([arXiv:1905.09418](https://arxiv.org/abs/1905.09418))."
            )
        )


def gather_evidence(options: RolesOptions) -> HeadEvidence | None:
    """Return the evidence from the chosen source, or None if there is none."""
    choice = get_view_state()
    if options.source == "sentences":
        return from_sentences(choice)
    trace = read_trace(choice)
    if trace is None:
        return None
    pick_part(trace, ViewOptions(part=choice.part if choice.part in trace.parts else ""))
    if choice.part == "cross":
        show_notice(
            _("Roles describe self-attention; the encoder is shown instead of cross-attention."),
            "status",
        )
    try:
        return from_trace(trace, choice)
    except UserError as refusal:
        show_error(refusal)
        return None


def draw_view() -> None:
    """Draw the view."""
    choice_now, options_now = get_view_state(), get_params(RolesOptions)
    compose(choice_now, kind_of(choice_now))
    left, middle, right = st.columns(3)
    bound_widget(RolesOptions, "source", left.segmented_control, required=True)
    bound_widget(RolesOptions, "share", middle.slider, min_value=10, max_value=100, step=5, format="%d %%")
    bound_widget(RolesOptions, "relations", right.checkbox)
    known_now = gather_evidence(options_now)
    if known_now is not None:
        roles_now = head_roles(known_now, options_now)
        two_sided = kind_of(choice_now) == "encoder-decoder"
        found_now = Relations()
        # The annotated sentences are read by the chosen model, by the encoder if there are two stacks.
        if options_now.relations and not choice_now.opened and not (two_sided and choice_now.part == "decoder"):
            found_now = head_relations(choice_now)
        draw_map(known_now, choice_now, options_now, roles_now, found_now)
        table(known_now, options_now, roles_now, found_now)
        draw_examples(known_now, roles_now, found_now, options_now, choice_now)
        draw_similarity(known_now, choice_now, options_now, roles_now)
    how_to_read()
