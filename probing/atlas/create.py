"""Creation of an atlas in a folder: its texts, the control with random weights, and gold relations."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from i18n import gettext_lazy
from inference.backend import LocalBackend
from inference.errors import UserError
from inference.files import checkpoint, packages, sources
from inference.tasks.model_request import Answer, InspectRequest
from probing.atlas.build import CONTROL_TOKENS, STATE, AtlasBackend, AtlasPlan, build, run_plan
from probing.atlas.relations import score_relations
from probing.atlas.state import AtlasState
from probing.atlas.store import MANIFEST, WEIGHTS, write_atlas

WORKERS = 2  # concurrent requests: two passes of one thread each are faster than a single pass of two threads
SHARDS = "shards"  # folder of the states of an unfinished atlas that several processes build
Say = Callable[["BuildStep"], None]
Progress = Callable[[int], None]  # gets the number of tokens read
Run = Callable[[AtlasPlan, Path, str, Progress, Callable[[], bool]], tuple[AtlasState, bool]]


@dataclass(frozen=True)
class BuildStep:
    """A message about the progress of a build, in the phase "texts", "random" or "relations".

    In the phase "random", the control is built with random weights. ``done`` and ``total`` count sentences in the phase
    "relations", else tokens. ``total`` is 0 if it is unknown. ``note`` is the reason if a phase was left out, else "".

    >>> print(BuildStep("texts", 1200, 50_000), BuildStep("random", 0, note="No control."), sep="; ")
    1,200 / 50,000 tokens; random weights: No control.
    """

    phase: str
    done: int
    total: int = 0
    note: str = ""

    def __str__(self) -> str:
        of = f" / {self.total:,}" if self.total else ""
        start = {"texts": "", "random": "random weights: ", "relations": "relations: "}[self.phase]
        unit = "sentences" if self.phase == "relations" else "tokens"
        return start + (self.note or f"{self.done:,}{of} {unit}")


class UncachedBackend:
    """A backend that does not cache its answers, because an atlas never repeats a request."""

    def __init__(self, backend: LocalBackend) -> None:
        self.backend = backend

    def inspect(self, request: InspectRequest[Answer]) -> Answer:
        """Return the answer to a request; raise UserError if the model cannot serve it."""
        return self.backend.made(request)

    def weights(self, model: str, revision: str | None) -> dict[str, str]:
        """Return the hash of a model's weights as an entry for atlas.json; {} if a commit identifies them."""
        source = sources.find(model, revision, self.backend.settings)
        if source.revision is not None:
            return {}
        return {WEIGHTS: packages.of_weights(checkpoint.inspect(source.folder, source.name).weights)}


def refuse_other_folder(folder: Path) -> None:
    """Raise UserError if an atlas cannot be written to ``folder``: the path is a file, or has other contents."""
    if folder.exists() and not folder.is_dir():
        raise UserError(gettext_lazy("{folder} is not an empty folder. Give a new folder.", folder=folder))
    names = {file.name for file in folder.iterdir()} if folder.is_dir() else set()
    if names and not names & {MANIFEST, STATE, SHARDS}:
        raise UserError(gettext_lazy("{folder} is not an empty folder. Give a new folder.", folder=folder))


def create_atlas(  # noqa: PLR0913  # the plan, and the ways to watch and to stop it
    backend: UncachedBackend,
    plan: AtlasPlan,
    folder: Path,
    say: Say = lambda _step: None,
    stopped: Callable[[], bool] = lambda: False,
    *,
    checks: bool = True,
    about: Mapping[str, Any] | None = None,
    run: Run | None = None,
) -> tuple[AtlasState, bool]:
    """Build or continue an atlas and write it; return its state, and True if all texts were read.

    ``say`` is called with every message about progress. If ``checks`` is set, a complete atlas also gets a control with
    random weights, and gold relations if a file of the plan is CoNLL-U. An atlas that is stopped early contains the
    texts read so far, and is not written if there are none. ``run`` replaces the function that reads the texts, for
    example on a cluster. Raise UserError if a file, the model or the folder cannot be used.
    """
    refuse_other_folder(folder)
    files = plan.sources()
    folder.mkdir(parents=True, exist_ok=True)
    about = {**backend.weights(plan.model, plan.revision), **(about or {})}

    def progress(tokens: int) -> None:
        say(BuildStep("texts", tokens, plan.tokens or 0))

    key = plan.key(files)
    if run is None:
        state, complete = run_plan(backend, plan, folder, key, WORKERS, progress, stopped)
    else:
        state, complete = run(plan, folder, key, progress, stopped)
    control, relations = None, None
    if complete and checks:
        try:
            control = control_state(backend, plan, say)
            relations = gold_relations(backend, plan, say)
        except KeyboardInterrupt:
            state.save(folder / STATE, key)
            complete = False
    if not complete and not state.windows:
        return state, False
    write_atlas(folder, state, plan, files, control=control, finished=complete, relations=relations, about=about)
    if complete:
        (folder / STATE).unlink(missing_ok=True)
        shutil.rmtree(folder / SHARDS, ignore_errors=True)
    return state, complete


def control_state(backend: AtlasBackend, plan: AtlasPlan, say: Say) -> AtlasState | None:
    """Build an atlas of the same architecture with random weights, as a control.

    It reads the texts of the plan, up to CONTROL_TOKENS tokens. Return None if no model with random weights can be
    built.
    """
    most = min(plan.tokens or CONTROL_TOKENS, CONTROL_TOKENS)
    random = replace(plan, tokens=most, most=1, most_written=1, shard=(0, 1), control=True)
    state = AtlasState(1, 1)
    try:
        for _ in build(backend, random, state, WORKERS):
            say(BuildStep("random", state.tokens, most))
    except UserError as refusal:
        say(BuildStep("random", 0, note=refusal.message))
        return None
    return state


def gold_relations(backend: AtlasBackend, plan: AtlasPlan, say: Say) -> dict[str, Any] | None:
    """Return the accuracy of every head on the relations of the plan's first CoNLL-U file, as ``score_relations`` does.

    Return None if there is no such file, or scoring fails.
    """
    file = next((file for file in plan.files if file.suffix.lower() == ".conllu"), None)
    if file is None:
        return None
    try:
        return score_relations(
            backend, file, plan.model, plan.revision, lambda done, total: say(BuildStep("relations", done, total))
        )
    except UserError as refusal:
        say(BuildStep("relations", 0, note=refusal.message))
        return None
