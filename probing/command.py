"""The ``score`` command, which scores attention heads on annotated files, shows progress, and can be resumed."""

from __future__ import annotations

import argparse
import os
import sys
import time
from dataclasses import replace
from pathlib import Path

from inference.backend import LocalBackend
from inference.errors import UserError
from inference.files import checkpoint, embedded, extras, sources
from inference.files.architecture import code_notes
from inference.request import EMBEDDED
from inference.settings import Settings
from probing import formats
from probing.corpus import AnnotatedCorpus
from probing.results import rows, summary, to_csv, to_json
from probing.score import ScoringRun, ScoringState, StateFile, score
from probing.text_files import guess_message

OTHERWISE = "Change the file, or choose a model that reads these texts: --model."
PAUSE = 20.0  # seconds between two saves of the state


def run(asked: argparse.Namespace) -> str:
    """Score the requested files, write the output files and return the printed summary; may raise UserError."""
    outputs = [file for file in (asked.json, asked.csv, asked.control) if file is not None]
    for file in outputs:
        _refuse_unwritable(file)
    corpus = _load_corpus(asked, asked.file)
    split = _load_corpus(asked, asked.split_file) if asked.split_file else None
    backend, model = open_backend(asked.model)
    ensure_downloaded(backend, model, asked.revision, asked.download)
    print_code_notes(backend, model, asked.revision)
    kept = StateFile.open(outputs[0].with_name(f"{outputs[0].name}.partial") if outputs else None)
    plan = ScoringRun(corpus, model, asked.revision)
    if split and split.digest == corpus.digest:
        raise UserError("The split file holds the same sentences as the file. Give others, or none.")
    chooser = _run_scoring(backend, replace(plan, corpus=split), kept, asked.split_file.name).tally if split else None
    state = _run_scoring(backend, plan, kept, asked.file.name)
    random = _run_scoring(backend, replace(plan, control=True), kept, "random weights") if asked.control else None
    found = rows(state.tally, corpus, chooser)
    _write(asked.json, to_json(found))
    _write(asked.csv, to_csv(found))
    if random is not None:
        _write(asked.control, to_json(rows(random.tally, corpus)))
    kept.drop()
    return summary(corpus, state, chooser, None if random is None else random.tally)


def _load_corpus(asked: argparse.Namespace, file: Path) -> AnnotatedCorpus:
    """Load a corpus and print its encoding if it was guessed; raise UserError."""
    corpus = formats.load(file, asked.format, asked.encoding)
    if corpus.guessed:
        print(guess_message(file.name, corpus.guessed), file=sys.stderr)
    return corpus


def _refuse_unwritable(file: Path) -> None:
    folder = file.absolute().parent
    if not folder.is_dir() or not os.access(folder, os.W_OK) or file.is_dir():
        raise UserError(f"{file} cannot be written. Give a file in a folder that exists and may be written to.")


def open_backend(model: str) -> tuple[LocalBackend, str]:
    """Return a backend that can open ``model`` (a name or a folder), and the name to pass to this backend."""
    settings = Settings.from_env()
    if sources.is_path(model):
        folder = Path(os.path.abspath(Path(model).expanduser()))
        settings, model = replace(settings, model_folders=(folder.parent,)), str(folder)
    return LocalBackend(settings), model


def ensure_downloaded(backend: LocalBackend, model: str, revision: str | None, download: bool) -> None:
    """Download a hub model that is missing; raise UserError if ``download`` is False."""
    # Bundled models are not on the hub.
    ours = model in (EMBEDDED, *embedded.OWN) or extras.find_extra(model) is not None
    if ours or sources.is_path(model) or backend.status(model, revision) != "absent":
        return
    offer = backend.look(model, revision)
    if not download:
        raise UserError(
            f"{model} is not on this machine. Downloading it takes {offer.nbytes / 1e6:,.0f} MB; add --download.",
            way_out="download",
        )
    running = backend.download(offer)
    while not running.wait(0.5) and running.state == "running":
        _print_progress(f"{model}: {100 * running.progress.share:.0f}% downloaded")
    _print_progress("")


def print_code_notes(backend: LocalBackend, model: str, revision: str | None) -> None:
    """Print a warning for each kind of program code in a model's folder, which Headlight never runs.

    May raise UserError.
    """
    source = sources.find(model, revision, backend.settings)
    for note in code_notes(source.folder, checkpoint.inspect(source.folder, source.name).config):
        print(f"{source.name}: {note}", file=sys.stderr)


def _run_scoring(backend: LocalBackend, plan: ScoringRun, kept: StateFile, what: str) -> ScoringState:
    """Finish a run, resumed from its saved state; raise UserError if the model can read too few texts."""
    state = kept.states.get(plan.key) or ScoringState(plan.key)
    saved = time.monotonic()
    try:
        for _ in score(backend, plan, state, backend.settings.forwards):
            _print_progress(f"{what}: {state.items:,} of {len(plan.corpus.items):,} texts")
            if time.monotonic() - saved > PAUSE:
                kept.save(state)
                saved = time.monotonic()
    finally:
        _print_progress("")
        kept.save(state)
    if not state.tally.counts:
        raise UserError(f"{what}: The model could read none of the {state.items:,} texts. {state.reason} {OTHERWISE}")
    if state.unreadable:
        raise UserError(f"{what}: {state.unreadable} {OTHERWISE}")
    if state.skipped and not plan.control:  # the control skips the same texts, so a second warning is useless
        skipped = f"{what}: {state.skipped:,} of {state.items:,} texts are left out. {state.reason} {OTHERWISE}"
        print(skipped, file=sys.stderr)
    return state


def _print_progress(line: str) -> None:
    """Print a line that the next call overwrites, if standard error is a terminal."""
    if sys.stderr.isatty():
        print(f"\r\033[K{line}", end="", file=sys.stderr, flush=True)


def _write(file: Path | None, content: str) -> None:
    if file is not None:
        file.write_text(content, encoding="utf-8")
