"""Generation of one or more tokens, saved after each token, and all generated tokens as a tree."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import streamlit as st

from i18n import _
from inference import UserError
from inference.tasks.decoding import DecodingStep, NextCandidate, NextToken
from ui.input.controls import bound_widget
from ui.pages.generate.options import (
    HISTORY,
    KNOWN,
    MOST_MORE,
    TEMPERATURES,
    TOP_PS,
    GenerateOptions,
    clamp,
    go_to,
    is_sampling,
    mark_of,
    on_path,
    read_path,
    text_of,
    write_path,
)
from ui.run.notices import show_notice
from ui.run.progress import STOPPED, stoppable_steps
from ui.run.services import get_backend
from ui.show.chart import draw_notebook_menu
from ui.show.tables import add_header, download_button, texts_provenance
from ui.state.params import get_params, parse_params, set_params
from ui.state.session import own_query
from viz.components.tree import tree as tree_view
from viz.components.tree.tree import Kind, TreeNode
from viz.paper.notebook import Computation

TREE = "generate_tree"
MOST = 2000  # tokens in the history of a prompt
PROMPTS = 8  # prompts with a history

CHANCES = """\
numbers = []
for *before, token in paths:
    step = backend.predict(replace(request, written=tuple(before), also=(token,)))
    numbers += [found.probability for found in step.candidates if found.token == token]"""  # code of a notebook

Path = tuple[int, ...]


@dataclass(frozen=True)
class WrittenToken:
    """A generated token, and its probability before the sampling options; None if it is unknown."""

    piece: str
    probability: float | None


def history_of(request: NextToken) -> dict[Path, WrittenToken]:
    """Return the tokens generated after this prompt in this session.

    The key is the token's path: the ids of the generated tokens up to and including this token.
    """
    kept: dict[str, dict[Path, WrittenToken]] = st.session_state.setdefault(HISTORY, {})
    mine = kept.setdefault(mark_of(request), {})
    while len(kept) > PROMPTS:
        del kept[next(name for name in kept if kept[name] is not mine)]
    return mine


def write(request: NextToken, candidate: NextCandidate) -> None:
    """Append a token to the generated text, in the history of this session and in the page's address (URL)."""
    note(request, candidate)
    go_to(request, (*request.written, candidate.token))


def note(request: NextToken, candidate: NextCandidate) -> None:
    """Add the next token to this session's record of generated tokens."""
    history = history_of(request)
    if len(history) < MOST:
        history[*request.written, candidate.token] = WrittenToken(candidate.piece, candidate.probability)


def remember(request: NextToken, step: DecodingStep) -> None:
    """Add the tokens that precede a step to this session's record of generated tokens.

    Tokens from a link have no known probability.
    """
    history, path = history_of(request), request.written
    pieces = step.row.pieces[len(step.row) - len(path) :]
    for end, piece in enumerate(pieces, start=1):
        if path[:end] not in history and len(history) < MOST:
            history[path[:end]] = WrittenToken(piece, None)


def _kind(path: Path, current: Path) -> Kind:
    """Return "kept" for nodes on the current path, else "other"."""
    return "kept" if current[: len(path)] == path else "other"


def nodes_of(history: dict[Path, WrittenToken], current: Path) -> list[TreeNode]:
    """Return the nodes of the tree of generated tokens, the prompt first and parents before children.

    Nodes on the path to ``current`` are "kept", all others "other".

    >>> [(node.id, node.parent, node.kind) for node in nodes_of({(5,): WrittenToken("a", 0.5), (5,
    ...     7): WrittenToken("b", None)}, (5,))]
    [('', None, 'kept'), ('5', '', 'kept'), ('5.7', '5', 'other')]
    """
    nodes = [TreeNode("", None, _("Prompt"), kind="kept")]
    for path in sorted(history, key=len):
        been, kind = history[path], _kind(path, current)
        nodes.append(TreeNode(write_path(path), write_path(path[:-1]), been.piece, been.probability, kind))
    return nodes


def tree(request: NextToken) -> None:
    """Draw the tree of generated tokens; a click returns to a node."""
    history = history_of(request)
    if not history:
        return
    with st.expander(_("History"), expanded=True):  # a changing label would reopen the expander
        tree_view.mount(
            nodes_of(history, request.written),
            TREE,
            title=_("History"),
            current=write_path(request.written),
            on_pick=lambda: _go_to_node(request),
            unit=_("Probability"),
            names={"kept": _("shown path"), "other": _("other path")},
        )
        _draw_menu(request, history)


def _draw_menu(request: NextToken, history: dict[Path, WrittenToken]) -> None:
    """Draw the menu with the notebook of the tree's known probabilities."""
    known = {path: found.probability for path, found in history.items() if found.probability is not None}
    if known:
        draw_notebook_menu(
            _("History"), TREE, lambda: list(known.values()), partial(texts_provenance, request.text),
            partial(Computation, CHANCES, request=request, paths=list(known), replace=replace))  # fmt: skip


def _go_to_node(request: NextToken) -> None:
    path = read_path(tree_view.picked_node(TREE) or "")
    if path is not None and (not path or path in history_of(request)):
        go_to(request, path)


JOB = "generate_job"


@dataclass
class WritingJob:
    """A job that generates ``many`` tokens after the request ``start``."""

    start: NextToken
    many: int
    pick: str
    path: tuple[int, ...]  # all generated tokens so far, those of ``start`` included
    at: tuple[int, ...]  # path in the address; a different path there means that the reader left
    done: bool = False

    @property
    def mark(self) -> str:
        """Return the key by which ui.run.progress identifies this job."""
        return f"generate {self.start.key} {self.many} {self.pick}"


def next_candidate(step: DecodingStep, pick: str) -> NextCandidate:
    """Return the token to append: the sampled token if ``pick`` is "drawn", else the likeliest."""
    return step.chosen if pick == "drawn" else step.greedy


def written_on(request: NextToken) -> NextToken:
    """Continue the generation that the reader started, and return the request for the longer text.

    If none was started, return ``request``. The address is updated. Raise UserError if the model cannot answer.
    """
    job: WritingJob | None = st.session_state.get(JOB)
    if job is None:
        return request
    path = request.written
    same = mark_of(job.start) == mark_of(request)
    if job.done:
        # A late click on Stop restores the old address; keep the generated tokens.
        del st.session_state[JOB]
        late = st.session_state[STOPPED].pop(job.mark, None) is not None
        path = job.path if late and same and path == job.start.written else path
    elif not same or path != job.at or replace(job.start, written=path) != request:
        # The reader chose something else. With only another sampling rule, continue from the current path.
        del st.session_state[JOB]
        path = job.path if same and path == job.at else path
    else:
        path, done = _written_path(job)
    if path != request.written:
        go_to(request, path)
    still = st.session_state.get(JOB) is job
    if still:  # set last, because a click during go_to restarts the script
        job.at, job.done = path, done
    return replace(request, written=path)


def _written_path(job: WritingJob) -> tuple[tuple[int, ...], bool]:
    """Return the generated path and whether the job is finished."""
    place, path = st.empty(), job.start.written
    ended = False
    try:
        for _at in stoppable_steps(job.mark, job.many, _("Running the model")):
            if ended:
                continue  # finish the loop, so that its progress bar disappears
            request = replace(job.start, written=path)
            step = get_backend().predict(request)
            ended = step.ended or step.room == 0
            if not ended:
                written = next_candidate(step, job.pick)
                note(request, written)
                path = job.path = (*path, written.token)
                with place:
                    show_notice(f"{step.text}{written.text} …", role="none")
    except UserError:
        st.session_state.pop(JOB, None)
        raise
    place.empty()
    return path, ended or len(path) == len(job.start.written) + job.many


def controls(request: NextToken, step: DecodingStep, options: GenerateOptions) -> None:
    """Draw the buttons that generate, go back and save the text."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        _forward(request, step, options)
        with st.container(horizontal=True, width="content"):
            if request.written:
                _back(request)
        download_button(
            _("Save text"),
            add_header(text_of(request, step)),
            "headlight-text.txt",
            _("Plain text, the model first"),
            kind="text/plain",
        )


def _back(request: NextToken) -> None:
    """Draw the buttons that remove the last token, or all generated tokens."""
    st.button(
        _("Undo"),
        key="generate_back",
        icon=":material/undo:",
        on_click=lambda: go_to(request, request.written[:-1]),
    )
    st.button(
        _("To the prompt"),
        key="generate_start",
        icon=":material/first_page:",
        on_click=lambda: go_to(request, ()),
    )


def _forward(request: NextToken, step: DecodingStep, options: GenerateOptions) -> None:
    """Draw the controls that generate one or several tokens."""
    over = step.ended or step.room == 0
    many = clamp(options.more, 1, MOST_MORE)
    st.button(
        _("Next token"),
        key="generate_next",
        icon=":material/keyboard_tab:",
        disabled=over,
        on_click=write_next,
        args=(request, step, options.pick),
    )
    st.button(
        _("Write more"),
        key="generate_write_more",
        icon=":material/fast_forward:",
        disabled=over,
        on_click=begin,
        args=(request, many, options.pick),
    )
    bound_widget(GenerateOptions, "more", st.number_input, shown=many, min_value=1, max_value=MOST_MORE, width=110)
    bound_widget(GenerateOptions, "pick", st.segmented_control, required=True)


def draw_sampling(options: GenerateOptions) -> None:
    """Draw the controls of temperature, top-k, top-p and seed, if sampling is on."""
    if not is_sampling(options):
        return
    columns = st.columns(4, vertical_alignment="bottom")
    _hundredths(
        "temperature", columns[0], _("Temperature"), TEMPERATURES, 5,
        _("Divides the logits before sampling; higher: more varied."),
    )  # fmt: skip
    bound_widget(
        GenerateOptions, "top_k", columns[1].slider, shown=clamp(options.top_k, 0, KNOWN), min_value=0, max_value=KNOWN
    )
    _hundredths(
        "top_p", columns[2], "Top-p", TOP_PS, 1,
        _("Draws from the fewest tokens whose probabilities reach this sum."),
    )  # fmt: skip
    with columns[3].container(horizontal=True, vertical_alignment="bottom"):
        bound_widget(GenerateOptions, "seed", st.number_input, min_value=0, max_value=9_999_999, step=1, width=110)
        st.button(
            _("Resample"),
            on_click=lambda: set_params(GenerateOptions, seed=(options.seed + 1) % 10_000_000),
        )


def _hundredths(name: str, place: Any, label: str, ends: tuple[int, int], step: int, about: str) -> None:  # noqa: PLR0913  (the properties of a slider)
    """Draw a slider for an option that is stored in hundredths."""
    key = f"options_{name}"
    st.session_state[key] = clamp(getattr(get_params(GenerateOptions), name), *ends) / 100
    place.slider(
        label,
        min_value=ends[0] / 100,
        max_value=ends[1] / 100,
        step=step / 100,
        key=key,
        help=about,
        on_change=lambda: set_params(GenerateOptions, **{name: round(100 * st.session_state[key])}),
    )


def write_next(request: NextToken, step: DecodingStep, pick: str) -> None:
    """Append the next token; for use as a callback.

    If clicks are faster than the page, each of them appends a token.
    """
    here, job = _request_at_address(request), st.session_state.get(JOB)
    if here == request:
        write(request, next_candidate(step, pick))
    else:
        begin(request, 1 + (job.many if job is not None and job.start == here else 0), pick)


def begin(request: NextToken, many: int, pick: str) -> None:
    """Begin to generate ``many`` tokens after the path in the address."""
    start = _request_at_address(request)
    job = WritingJob(start, many, pick, start.written, start.written)
    st.session_state.get(STOPPED, {}).pop(job.mark, None)
    st.session_state[JOB] = job


def _request_at_address(request: NextToken) -> NextToken:
    """Return the request for the path in the address, which may be ahead of the drawn page."""
    return on_path(request, parse_params(GenerateOptions, own_query())[0])
