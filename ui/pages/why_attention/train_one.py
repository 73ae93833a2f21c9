"""Training of a single network in the app, compared with the recorded seeds."""

from __future__ import annotations

from functools import cache, partial

import numpy as np
import streamlit as st

from attention.mask import FloatArray
from i18n import _, translate
from inference import UserError
from training.jobs.baseline_runs import (
    MOST_SEED,
    MOST_STEPS,
    STEPS,
    BaselineRequest,
    BaselineRun,
    BaselineRunner,
    Points,
    RecordedRuns,
    mean_shares,
    shares,
)
from ui.input.controls import bound_widget
from ui.pages.why_attention import descriptions as said
from ui.pages.why_attention.descriptions import WITHOUT, WhyAttentionOptions
from ui.pages.why_attention.recorded_runs import (
    ASKED,
    UNIT,
    describe_networks,
    describe_test,
    load_recorded,
    runs_provenance,
    times,
)
from ui.run.notices import show_notice
from ui.run.redrawing import redraw_every
from ui.show.chart import draw_chart, theme
from ui.show.text import join_sentences
from viz.figures.training import Curve, seeds

EVERY = 1.0  # seconds between two updates of a running training
LEAST_STEPS = 50
PROBLEM = "rivals_problem"
BEGUN = "rivals_begun"  # session key of the runs that this session began and may stop


@cache
def get_runs() -> BaselineRunner:
    """Return the runner that all sessions of this process share."""
    return BaselineRunner()


def train_one(options: WhyAttentionOptions) -> None:
    """Draw the widgets for a training of a network, its progress and its result."""
    with st.expander(_("Train one here"), expanded=_ask(options) in _started_runs()):
        ask = _controls(options)
        _buttons(ask)
        running = get_runs().look(ask).state == "running"
        redraw_every(EVERY if running else None, _watch, ask, running)


def _ask(options: WhyAttentionOptions) -> BaselineRequest:
    """Return the request in the options, with the numbers clipped; only the Transformer has ablations."""
    return BaselineRequest(
        task=options.task,
        model=options.network,
        off=options.off if options.network == "transformer" else "",
        seed=min(max(options.seed, 0), MOST_SEED),
        steps=min(max(options.steps, LEAST_STEPS), MOST_STEPS),
    )


def _controls(options: WhyAttentionOptions) -> BaselineRequest:
    """Draw the controls for network, ablated part, seed and steps, and return the request."""
    ask = _ask(options)
    columns = st.columns(4, vertical_alignment="bottom")
    bound_widget(
        WhyAttentionOptions,
        "network",
        columns[0].selectbox,
        help=_("Its task: {task}", task=said.title_of(ask.task).lower()),
    )
    bound_widget(
        WhyAttentionOptions,
        "off",
        columns[1].selectbox,
        shown=ask.off,
        disabled=ask.model != "transformer",
    )
    bound_widget(
        WhyAttentionOptions, "seed", columns[2].number_input, min_value=0, max_value=MOST_SEED, step=1, shown=ask.seed
    )
    bound_widget(
        WhyAttentionOptions,
        "steps",
        columns[3].number_input,
        min_value=LEAST_STEPS,
        max_value=MOST_STEPS,
        step=50,
        shown=ask.steps,
        help=_("Steps of 64 texts each; recorded runs have {steps:,}", steps=STEPS),
    )
    return ask


def _buttons(ask: BaselineRequest) -> None:
    """Draw the button Train, or Stop for a training that this session began; then show a pending error."""
    state = get_runs().look(ask).state
    if state == "running" and ask in _started_runs():
        st.button(_("Stop"), on_click=get_runs().stop, args=(ask,), help=_("Nothing of this training is kept."))
    elif state not in ("running", "done"):
        about = _("A minute or less on an idle machine")
        st.button(_("Train"), type="primary", on_click=_train, args=(ask,), help=about)
    if problem := st.session_state.pop(PROBLEM, ""):
        show_notice(problem)


def _train(ask: BaselineRequest) -> None:
    """Start a run, or store the error message for the next rerun."""
    try:
        get_runs().start(ask)
        _started_runs().add(ask)
    except UserError as refusal:
        st.session_state[PROBLEM] = refusal.message


def _started_runs() -> set[BaselineRequest]:
    begun: set[BaselineRequest] = st.session_state.setdefault(BEGUN, set())
    return begun


def _watch(ask: BaselineRequest, running: bool) -> None:
    """Draw the current state of a run; rerun the page if the run has begun or ended meanwhile."""
    seen = get_runs().look(ask)
    if (seen.state == "running") != running:
        st.rerun()
    if seen.state == "running":
        step = seen.losses[-1][0] if seen.losses else 0
        st.progress(
            step / ask.steps, text=_("Step {step:,} of {steps:,}; then it is measured", step=step, steps=ask.steps)
        )
        if seen.losses:
            _losses(ask, seen.losses)
    elif seen.state == "stopped":
        show_notice(join_sentences(_("Stopped."), _("Nothing of this training is kept.")), "status")
    elif seen.state == "failed":
        show_notice(seen.said)
    elif seen.found is not None:
        _draw_result(ask, seen.found)


def _losses(ask: BaselineRequest, points: Points) -> None:
    """Draw the loss by step, with the recorded seeds if they took the same number of steps."""
    runs = load_recorded().runs_of(ask.task, ask.model, ask.off)
    kept = [Curve(_("recorded seeds"), [at for at, _ in runs[0].losses], _values([run.losses for run in runs]))]
    curves = [_own_curve(ask, points), *(kept if runs[0].steps == ask.steps else ())]
    figure = seeds(curves, theme(), _("Training loss"), _("Step"), _("loss (nats)"))
    about = partial(runs_provenance, ask.task, network=ask.model, seed=ask.seed, training_steps=ask.steps)
    draw_chart(figure.update_xaxes(range=[0, ask.steps]), "why_here_losses", about=about)


def _draw_result(ask: BaselineRequest, found: RecordedRuns) -> None:
    """Draw the accuracy of a finished run with the recorded seeds, its step times and its losses."""
    (run,), runs = found.runs, load_recorded().runs_of(ask.task, ask.model, ask.off)
    result, growth = sentence(run, runs), said.describe_growth(found)
    show_notice(result, "status")
    left, right = st.columns(2)
    kept = Curve(_("recorded seeds"), [at for at, _ in runs[0].accuracy], shares(runs))
    figure = seeds(
        [_own_curve(ask, run.accuracy), kept],
        theme(),
        _("Accuracy by distance"),
        _("Distance (tokens)"),
        translate(UNIT),
    )
    figure.update_yaxes(range=[0, 1.02])
    about, networks = partial(runs_provenance, ask.task), describe_networks(load_recorded())
    test = join_sentences(translate(ASKED[ask.task]), networks, describe_test(), result)
    draw_chart(figure, "why_here_accuracy", place=left, about=about, test=test)
    draw_chart(times(found), "why_here_times", place=right, about=about, test=growth)
    show_notice(growth, "status")
    _losses(ask, run.losses)


def sentence(run: BaselineRun, recorded: tuple[BaselineRun, ...]) -> str:
    """Return sentences that compare the accuracy of a training with that of the recorded trainings."""
    within, beyond = (float(part[0]) for part in mean_shares((run,)))
    kept = [float(part.mean()) for part in mean_shares(recorded)]
    name = said.name_of(run.model)
    if run.off:
        name = _("{network} with {part}", network=name, part=translate(WITHOUT[run.off]))
    found = _(
        "{name}, {numbers:,} parameters, seed {seed}, {steps:,} steps in {seconds:.1f} s: "
        "{within:.2f} right at trained distances, {beyond:.2f} beyond; recorded seeds "
        "{recorded_within:.2f} and {recorded_beyond:.2f}.",
        name=name,
        numbers=run.numbers,
        seed=run.seed,
        steps=run.steps,
        seconds=run.seconds,
        within=within,
        beyond=beyond,
        recorded_within=kept[0],
        recorded_beyond=kept[1],
    )
    same = next((one for one in recorded if (one.seed, one.steps) == (run.seed, run.steps)), None)
    if same is None:
        return found
    apart = float(np.abs(shares((run,)) - shares((same,))).max())
    seed = _("The recorded run with this seed differs by at most {apart:.2f} at any distance.", apart=apart)
    return join_sentences(found, seed)


def _own_curve(ask: BaselineRequest, points: Points) -> Curve:
    return Curve(_("seed {seed}, trained here", seed=ask.seed), [at for at, _ in points], _values([points]))


def _values(some: list[Points]) -> FloatArray:
    return np.array([[value for _, value in points] for points in some])
