"""Teach page: queue position, progress and learning curves of a training, with Stop and Go on."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from i18n import _, gettext_lazy, ngettext, translate
from inference import UserError
from inference.files import sources
from training.jobs.job import JobStatus
from ui.pages.teach.options import TeachOptions
from ui.run.fine_tuning import queue, training_title, visitor
from ui.run.notices import show_notice
from ui.run.redrawing import redraw_every
from ui.show.chart import draw_chart, theme
from ui.show.tables import csv_table, download_button
from ui.show.text import join_sentences
from ui.state.params import set_params
from viz.figures.training import learning_curve

MEASURES = {"classify": "accuracy", "tag": "f1", "answer": "f1"}
NAMES = {"classify": gettext_lazy("accuracy"), "tag": gettext_lazy("entity F1"), "answer": gettext_lazy("F1")}
BASELINES = {  # as in training.finetune.command and answer_command; tags have none
    "classify": gettext_lazy("TF-IDF, logistic regression"),
    "answer": gettext_lazy("sentence with most words of the question"),
}
Line = Mapping[str, Any]
CHOICE = (  # the rule of training.finetune.trainer.Mark
    "trained step with the highest dev {measure}, then the lowest dev loss (scores below 0.05 count as equal)"
)
SCORES, LOSSES = "teach_scores", "teach_losses"
EVERY = 2.0  # In seconds: the interval between two updates of the fragment.
PROBLEM = "teach_problem"
STOPPING = "teach_stopping"  # Session key: the ids of trainings that are being stopped.
ACCESS = gettext_lazy(
    "Anyone with the link can see and save this training. Only the browser that began it can stop or remove it."
)
COLLAPSED = gettext_lazy(
    "Two evaluations predicted “{only}” for every dev row. Lower the learning rate, or add minutes or rows."
)


@dataclass(frozen=True)
class TrainingProgress:
    """The progress of a training: ``step`` steps are done, of ``last`` steps in all.

    ``last`` is 0 until the log has a plan. ``seconds`` is an upper bound of the remaining time, None if unknown.
    """

    step: int
    last: int
    seconds: float | None

    @property
    def share(self) -> float:
        """Return the completed fraction, from 0 to 1."""
        return min(1.0, self.step / self.last) if self.last else 0.0

    @property
    def time_left(self) -> str:
        """Return the remaining time in words; "" if unknown.

        >>> (
        ...     TrainingProgress(40, 133, 92.0).time_left,
        ...     TrainingProgress(130, 133, 4.0).time_left,
        ...     TrainingProgress(0, 133, None).time_left,
        ... )
        ('about 1.5 minutes left', 'some seconds left', '')
        """
        if self.seconds is None:
            return ""
        if self.seconds < 20:
            return _("some seconds left")
        minutes = f"{self.seconds / 60:.1f}".removesuffix(".0")
        several = 1 if minutes == "1" else 2  # The plural also serves 0.5 minutes.
        return ngettext("about {minutes} minute left", "about {minutes} minutes left", several, minutes=minutes)


def progress(
    plans: Sequence[Line], steps: Sequence[Line], scored: Sequence[Line], minutes: float | None = None
) -> TrainingProgress:
    """Compute the progress from the lines of the log by kind: plans, steps and evaluations.

    The remaining time does not exceed the time limit ``minutes``; None means no limit.

    >>> plans, steps = [{"step": 0, "last": 133}], [{"step": 40, "seconds": 60.0}]
    >>> progress(plans, steps, []).time_left, progress(plans, steps, [], minutes=2.0).time_left
    ('about 2.3 minutes left', 'about 1 minute left')
    """
    last = int(plans[-1]["last"]) if plans else 0
    at = max((*steps, *scored), key=lambda line: line["step"], default=None)
    if at is None or not at["step"]:
        return TrainingProgress(0, last, 60 * minutes if minutes is not None and last else None)
    left = (last - at["step"]) * at["seconds"] / at["step"]
    if minutes is not None:
        left = max(0.0, min(left, 60 * minutes - at["seconds"]))
    return TrainingProgress(int(at["step"]), last, left if last else None)


def progress_of(look: JobStatus) -> TrainingProgress:
    """Return the progress of a training job within its current phase."""
    minutes = look.job.settings.minutes if look.phase == "teach" else None
    return progress(look.lines("plan"), look.lines("step"), look.lines("evaluation"), minutes)


def describe_job(look: JobStatus) -> str:
    """Return a sentence on the phase and the progress of a running job."""
    if look.phase == "changes":
        return _("Computing the comparison")
    found, what = progress_of(look), _describe_control(look) if look.phase == "twin" else _("Training")
    if not found.last:
        return _("Loading the model")
    if found.step >= found.last:
        return _("Saving")
    said = _("{what}: step {step:,} of {last:,}", what=what, step=found.step, last=found.last)
    return _("{first}, {then}", first=said, then=found.time_left) if found.time_left else said


def _describe_control(look: JobStatus) -> str:
    """Return a phrase for the shuffled-label control that is being trained."""
    plans = look.lines("plan")
    number = plans[-1].get("twin", 0) if plans else 0
    return _("Training control {n} of 2", n=number + 1)


def curves(look: JobStatus) -> None:
    """Draw the scores on the dev rows and the training loss, with a summary and a CSV export.

    Draw nothing before the first evaluation.
    """
    kind = look.job.kind
    evaluations = look.lines("evaluation", "teach")
    scored = [(int(line["step"]), float(line[MEASURES[kind]])) for line in evaluations]
    learned = [(int(line["step"]), float(line["loss"])) for line in look.lines("step", "teach")]
    if not scored:
        return
    plans, counted = look.lines("plan", "teach"), look.lines("baseline", "teach")
    last = int(plans[-1]["last"]) if plans else None
    baseline = float(counted[-1][MEASURES[kind]]) if counted else None
    dashed = None if baseline is None else (translate(BASELINES[kind]), baseline)
    # The role is not "status", because the text changes every few seconds.
    kept = [point for point, line in zip(scored, evaluations, strict=True) if line.get("best")]
    show_notice(describe_best((kept or scored)[-1], NAMES[kind], baseline), role="note")
    made = curve_provenance(look, baseline)
    left, right = st.columns(2)
    collapsed = [(int(line["step"]), str(line["only"])) for line in look.lines("collapse", "teach")]
    figure = learning_curve(scored, theme(), _("Dev score"), translate(NAMES[kind]),
                            last=last, baseline=dashed, collapsed=collapsed, ceiling=1.0)  # fmt: skip
    draw_chart(figure, SCORES, place=left, about=lambda: made)
    figure = learning_curve(learned, theme(), _("Training loss"), _("loss (nats)"), last=last)
    draw_chart(figure, LOSSES, place=right, about=lambda: made)
    rows = [("dev " + NAMES[kind], *point) for point in scored] + [("loss", *point) for point in learned]
    download_button(
        _("Save as CSV"),
        csv_table(("curve", "step", "value"), rows),
        "headlight-training.csv",
        _("All digits"),
        provenance=made,
    )


NOT_RECORDED = "not recorded"  # in methods, the value of a setting that earlier versions did not save


def curve_provenance(look: JobStatus, baseline: float | None) -> dict[str, Any]:
    """Return the provenance of the training curves: the data, the initial model, and all settings that are known."""
    job, facts, plans = look.job, look.facts(), look.lines("plan", "teach")
    last, per_epoch = plans[-1]["last"] if plans else None, facts.get("steps_per_epoch")
    missing = NOT_RECORDED if facts else None  # no settings exist before the first step
    known = {
        "data": job.data_title,
        "model": job.model,
        "revision": job.revision,
        "task": job.kind,
        "train_rows": facts.get("train_rows"),
        "dev_rows": facts.get("dev_rows"),
        "planned_steps": last,
        "epochs": round(last / per_epoch, 1) if last and per_epoch else missing,
        "batch": facts.get("batch", missing),
        "peak_learning_rate": facts.get("rate", missing),
        "most_tokens": facts.get("length"),
        "frozen_layers": job.settings.frozen,
        "seed": str(job.settings.seed),
        "choice": CHOICE.format(measure=MEASURES[job.kind]),
        "baseline": None if baseline is None else f"{BASELINES[job.kind]} {baseline:.3f}",
    }
    return {name: value for name, value in known.items() if value is not None}


def describe_best(best: tuple[int, float], measure: str, baseline: float | None) -> str:
    """Return a sentence on the step whose weights are kept and its score, compared with the baseline if it is known.

    >>> describe_best((13, 0.9), "accuracy", 0.95)
    'Best so far: dev accuracy 0.900 at step 13. Baseline: 0.950.'
    """
    step, score = best
    said = _("Best so far: dev {measure} {score:.3f} at step {step:,}.", measure=measure, score=score, step=step)
    if baseline is None:
        return said
    return join_sentences(said, _("Baseline: {baseline:.3f}.", baseline=baseline))


def draw_progress(look: JobStatus) -> None:
    """Draw the progress of a training; the fragment redraws itself while the training waits or runs."""
    _draw_title(look)
    lives = look.state in ("waiting", "running")
    redraw_every(EVERY if lives else None, _watch, look.job.id, _job_state(look))


def _draw_title(look: JobStatus) -> None:
    """Draw the title of the training and a button that returns to the settings."""
    about = f"{training_title(look.job)} · {in_words(look)}" if look.state == "done" else training_title(look.job)
    with st.container(horizontal=True, vertical_alignment="center"):
        show_notice(about, role="status")
        help = _("This training continues at its link.")
        st.button(_("New training"), on_click=set_params, args=(TeachOptions,), kwargs={"job": ""}, help=help)


def _job_state(look: JobStatus) -> tuple[str, str, bool]:
    """Return the parts of a job's status that require a rerun of the whole page if they change."""
    return look.state, look.phase, look.has_model


def _watch(job_id: str, before: tuple[str, str, bool]) -> None:
    """Draw the current state of the training; rerun the whole page if its state or phase has changed."""
    try:
        look = queue().look(job_id)
    except UserError:
        st.rerun()  # The training was removed; the page reports it on the rerun.
    if _job_state(look) != before:
        st.rerun()
    _state(look)
    if look.phase != "teach" or look.state == "done":
        with st.expander(_("Training curves")):
            curves(look)
    else:
        curves(look)


def _state(look: JobStatus) -> None:
    """Draw the state as a sentence or a progress bar, with the buttons that apply."""
    stopping: set[str] = st.session_state.setdefault(STOPPING, set())
    mine = look.job.owner == visitor()
    if look.state != "running":
        stopping.discard(look.job.id)
    with st.container(horizontal=True, vertical_alignment="center"):
        if look.state == "running":
            st.progress(progress_of(look).share, text=describe_job(look))
        elif look.state != "done":
            show_notice(in_words(look), role="alert" if look.state == "failed" else "status")
        if look.job.id in stopping:
            show_notice(_("Stopping keeps the best step."), role="status")
        elif look.state in ("waiting", "running") and mine:
            st.button(_("Stop"), on_click=_stop, args=(look.job.id,), help=_("Stopping keeps the best step."))
        elif look.state in ("stopped", "failed") and mine:
            st.button(_("Go on"), type="primary", on_click=_go_on, args=(look.job.id,))
    if problem := st.session_state.pop(PROBLEM, ""):
        show_notice(problem)
    if look.state in ("waiting", "running"):
        st.caption(translate(ACCESS))
    collapse(look)


def in_words(look: JobStatus) -> str:
    """Return a sentence on the state of a training that has stopped or ended, or waits."""
    if look.state == "waiting":
        if not look.ahead:
            return _("It begins now.")
        return _("Waiting; trainings before it: {n}.", n=look.ahead)
    if look.state == "failed":
        return translate(look.said)
    if look.state == "done":
        return _("The training is finished.")
    found, said = progress_of(look), translate(look.said) or _("Stopped.")
    if look.phase != "teach":
        return _("{said} Press “Go on” for the comparison.", said=said)
    if not look.has_model:
        return _("{said} Nothing is saved yet.", said=said)
    steps, chosen = _saved_steps(look)
    return _(
        "{said} Step {step:,} of {last:,}; {shown}.",
        said=said,
        step=max(found.step, steps),
        last=found.last,
        shown=_("below, the model before training") if chosen == 0 else _("the best step is below"),
    )


def _saved_steps(look: JobStatus) -> tuple[int, int | None]:
    """Return the number of steps of a saved training and the chosen step, as in its results; (0, None) if unreadable.

    The log has a line every few steps only, so its last line may be before the step at which the training stopped.
    """
    try:
        scores = json.loads((look.model / sources.SCORES).read_bytes())
        return int(scores["steps"]), (scores.get("dev") or {}).get("step")
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return 0, None


def collapse(look: JobStatus) -> None:
    """Show a warning if the model gave all dev rows the same label, twice in a row.

    The warning disappears after an evaluation with several labels.
    """
    found, scored = look.lines("collapse", "teach"), look.lines("evaluation", "teach")
    if found and scored and scored[-1].get("only") is not None:
        show_notice(_(COLLAPSED, only=found[-1]["only"]))


def _stop(job_id: str) -> None:
    st.session_state[STOPPING].add(job_id)
    _ask(queue().stop, job_id)


def _go_on(job_id: str) -> None:
    _ask(queue().go_on, job_id)


def _ask(what: Callable[[str], None], job_id: str) -> None:
    """Call a method of the queue; keep its UserError for the next drawing of the page."""
    try:
        what(job_id)
    except UserError as refusal:
        st.session_state[PROBLEM] = refusal.message
