"""Train one here: a network, a part switched off, a seed; its curves as it learns, beside the recorded seeds."""

from __future__ import annotations

from functools import cache

import numpy as np
import streamlit as st

from attention.mask import Array
from inference import Refusal
from training.jobs.rivals import MODELS, PARTS, STEPS, Ask, Points, Recorded, Run
from training.jobs.watched import MOST_SEED, MOST_STEPS, Watched
from ui.input.picking import control
from ui.pages.why_attention import told as said
from ui.pages.why_attention.options import Options
from ui.pages.why_attention.told import NAMES, WITHOUT
from ui.pages.why_attention.trained import UNIT, recorded, times
from ui.run.refusals import say
from ui.show.chart import draw_chart, theme
from ui.show.lists import together
from viz.figures.seeds import Curve, seeds
from wording import _, told

EVERY = 1.0  # seconds between two looks
LEAST_STEPS = 50
PROBLEM = "rivals_problem"
BEGUN = "rivals_begun"  # the runs that this session began, and may stop


@cache
def watched() -> Watched:
    """The runs that all sessions of this process share."""
    return Watched()


def train_one(options: Options) -> None:
    """What to train, the button, and what comes of it."""
    with st.expander(_("Train one here"), expanded=_ask(options) in _begun()):
        ask = _controls(options)
        _buttons(ask)
        running = watched().look(ask).state == "running"
        st.fragment(_watch, run_every=EVERY if running else None)(ask, running)


def _ask(options: Options) -> Ask:
    """What the address asks for, within bounds; a part can be switched off of the Transformer alone."""
    return Ask(
        task=options.task,
        model=options.network,
        off=options.off if options.network == "transformer" else "",
        seed=min(max(options.seed, 0), MOST_SEED),
        steps=min(max(options.steps, LEAST_STEPS), MOST_STEPS),
    )


def _controls(options: Options) -> Ask:
    """Network, part, seed and steps; the task is the one above."""
    ask = _ask(options)
    columns = st.columns(4, vertical_alignment="bottom")
    control(Options, "network", columns[0].selectbox, _("Network"), list(MODELS), format_func=NAMES.get,
            help=_("It learns the task above: {task}", task=said.title_of(ask.task).lower()))  # fmt: skip
    control(Options, "off", columns[1].selectbox, _("Switched off"), ["", *PARTS], format_func=WITHOUT.get,
            shown=ask.off, disabled=ask.model != "transformer",
            help=_("A part of the Transformer that it learns without"))  # fmt: skip
    control(Options, "seed", columns[2].number_input, _("Seed"), 0, MOST_SEED, step=1, shown=ask.seed,
            help=_("Of the first numbers and of the texts; the same seed gives the same network"))  # fmt: skip
    control(Options, "steps", columns[3].number_input, _("Steps"), LEAST_STEPS, MOST_STEPS, step=50, shown=ask.steps,
            help=_("Of 64 texts each; the recorded runs took {steps:,}", steps=STEPS))  # fmt: skip
    return ask


def _buttons(ask: Ask) -> None:
    """Train, or Stop while it goes on and was begun here; what was refused."""
    state = watched().look(ask).state
    if state == "running" and ask in _begun():
        st.button(_("Stop"), on_click=watched().stop, args=(ask,), help=_("Nothing of it is kept"))
    elif state not in ("running", "done"):
        about = _("A minute or less, where nothing else runs")
        st.button(_("Train"), type="primary", on_click=_train, args=(ask,), help=about)
    if problem := st.session_state.pop(PROBLEM, ""):
        say(problem)


def _train(ask: Ask) -> None:
    """Begins a run; what is refused is said when the page is drawn."""
    try:
        watched().start(ask)
        _begun().add(ask)
    except Refusal as refusal:
        st.session_state[PROBLEM] = refusal.message


def _begun() -> set[Ask]:
    begun: set[Ask] = st.session_state.setdefault(BEGUN, set())
    return begun


def _watch(ask: Ask, running: bool) -> None:
    """The run as it is now; the whole page anew once it has ended."""
    seen = watched().look(ask)
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
        say(_("Stopped. Nothing of it is kept."), "status")
    elif seen.state == "failed":
        say(seen.said)
    elif seen.found is not None:
        _found(ask, seen.found)


def _losses(ask: Ask, points: Points) -> None:
    """The loss as it goes, beside the recorded seeds' where they took as many steps."""
    runs = recorded().of(ask.task, ask.model, ask.off)
    kept = [Curve(_("recorded seeds"), [at for at, _ in runs[0].losses], _values([run.losses for run in runs]))]
    curves = [_here(ask, points), *(kept if runs[0].steps == ask.steps else ())]
    figure = seeds(curves, theme(), _("How wrong is it on the texts just read?"), _("Step"), _("loss (nats)"))
    draw_chart(figure.update_xaxes(range=[0, ask.steps]), "why_here_losses")


def _found(ask: Ask, found: Recorded) -> None:
    """What came of it, beside the recorded seeds, and this machine's times."""
    (run,), runs = found.runs, recorded().of(ask.task, ask.model, ask.off)
    say(sentence(run, runs), "status")
    left, right = st.columns(2)
    kept = Curve(_("recorded seeds"), [at for at, _ in runs[0].accuracy], said.shares(runs))
    figure = seeds(
        [_here(ask, run.accuracy), kept], theme(), _("How far back can it be?"), _("Distance (tokens)"), told(UNIT)
    )
    draw_chart(figure.update_yaxes(range=[0, 1.02]), "why_here_accuracy", place=left)
    draw_chart(times(found, _("A step, measured here")), "why_here_times", place=right)
    say(_("Measured here: {growth}", growth=said.growth(found)), "status")
    _losses(ask, run.losses)


def sentence(run: Run, recorded: tuple[Run, ...]) -> str:
    """What a run here found, beside the recorded ones."""
    within, beyond = (float(part[0]) for part in said.parted((run,)))
    kept = [float(part.mean()) for part in said.parted(recorded)]
    name = said.name_of(run.model)
    if run.off:
        name = _("{network} with {part}", network=name, part=told(WITHOUT[run.off]))
    found = _(
        "{name}, {numbers:,} numbers, seed {seed}, {steps:,} steps in "
        "{seconds:.1f} s of this processor: it answers {within:.2f} at distances as trained and "
        "{beyond:.2f} beyond them; the recorded seeds answer {recorded_within:.2f} and {recorded_beyond:.2f}.",
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
    apart = float(np.abs(said.shares((run,)) - said.shares((same,))).max())
    seed = _("One of them has this very seed; at no distance do the two differ by more than {apart:.2f}.", apart=apart)
    return together(found, seed)


def _here(ask: Ask, points: Points) -> Curve:
    return Curve(_("seed {seed}, trained here", seed=ask.seed), [at for at, _ in points], _values([points]))


def _values(some: list[Points]) -> Array:
    return np.array([[value for _, value in points] for points in some])
