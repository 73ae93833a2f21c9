"""Recording of the answers in assets/answers, which pages need before a visitor changes anything.

python -m tools.stored_answers           open every view in a browser and store the answers that it needs
python -m tools.stored_answers --check   list stored answers that no view asks for any more; change nothing

Both take four to eight minutes, and print each view when it is opened.
"""

from __future__ import annotations

import os
import runpy
import signal
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from attention.trace import Trace  # noqa: E402  (after the path is set)
from inference.backend import LocalBackend  # noqa: E402
from inference.files import embedded, sources  # noqa: E402
from inference.request import TraceRequest  # noqa: E402
from inference.settings import Settings  # noqa: E402
from inference.tasks.model_request import ModelRequest  # noqa: E402
from inference.tasks.predictions import MaskedWords  # noqa: E402
from serving.model_process import SubprocessBackend  # noqa: E402
from serving.protocol import pack  # noqa: E402
from serving.stored_answers import MODELS, StoredAnswers  # noqa: E402

FOLDER = "HEADLIGHT_ANSWERS"  # the folder to which the recorded app writes
MOST_BYTES = 700_000  # larger answers are not stored
MOST_TOGETHER = 2_000_000  # larger traces that are requested together are not stored
# The request of the view Generate on a machine without a model that generates text, which a visit may not make.
WITHOUT_WRITER = MaskedWords(embedded.BERT, text="The animal didn't cross the street because it was too [MASK].")


def record(folder: Path) -> None:
    """Change this process so that every answer and trace that it computes is also saved to a folder.

    Only answers of MODELS are saved. Answers that are stored already are not used, so that everything is computed.
    """
    compute, trace, stored = SubprocessBackend.made, SubprocessBackend.computed, StoredAnswers(folder)

    def store(question: TraceRequest | ModelRequest[Any], answer: Any, settings: Settings) -> None:
        if question.model in MODELS and len(pack((question, answer))) <= MOST_BYTES:
            stored.write(question, answer, settings)

    def answer_and_store(backend: SubprocessBackend, question: ModelRequest[Any]) -> Any:
        answer = compute(backend, question)
        store(question, answer, backend.settings)
        return answer

    def trace_and_store(backend: SubprocessBackend, requests: Sequence[TraceRequest]) -> list[Trace]:
        traces = trace(backend, requests)
        if sum(made.nbytes for made in traces) <= MOST_TOGETHER:
            for request, made in zip(requests, traces, strict=True):
                store(request, made, backend.settings)
        return traces

    SubprocessBackend.made = answer_and_store  # type: ignore[method-assign, assignment]
    SubprocessBackend.computed = trace_and_store  # type: ignore[method-assign, assignment]
    SubprocessBackend.stored = StoredAnswers(folder / "none")  # nothing is read, so that everything is computed


def visit(folder: Path) -> None:
    """Open every view of the app in a browser, so that its answers are saved to the folder."""
    from playwright.sync_api import sync_playwright

    from tests.browser.test_pages import VISITS, drawn
    from tests.support.atrest import PATIENCE, rest
    from tests.support.browser import chromium
    from tests.support.running import free_port, started_by
    from tests.support.visitor import address_of

    port = free_port()
    command = [sys.executable, "-m", "tools.stored_answers", "serve", f"--server.port={port}"]
    with started_by(command, folder / "app.log", ROOT, port, {FOLDER: str(folder)}) as app, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium(), args=["--no-sandbox", "--disable-gpu"])
        for at, view in enumerate(VISITS, 1):
            print(f"{at} of {len(VISITS)}: {view}", flush=True)
            page = browser.new_page(viewport={"width": 1440, "height": 900})
            page.goto(f"{app.url}{address_of(view)}")
            rest(page, 3 * PATIENCE)
            drawn(page, view)
            page.close()
        browser.close()


def main(arguments: list[str]) -> int:
    """Replace the stored answers, or list those that no view requests any more; return 1 if there are any."""
    if arguments[:1] == ["serve"]:
        record(Path(os.environ[FOLDER]))
        sys.argv = ["streamlit", "run", "app.py", "--server.address=127.0.0.1", *arguments[1:]]
        runpy.run_module("streamlit", run_name="__main__", alter_sys=True)
        return 0
    settings = Settings()
    if missing := [model for model in MODELS if not sources.is_local(model, None, settings)]:
        print(f"{missing[0]} is not installed, and its stored answers would be lost. Run: make writer", file=sys.stderr)
        return 1
    signal.signal(signal.SIGTERM, lambda number, _frame: sys.exit(128 + number))  # ends the app and the browser too
    stored = StoredAnswers()
    with tempfile.TemporaryDirectory() as made:
        visit(Path(made))
        fresh = {
            stored.file_of(question): (question, answer)
            for question, _sum, answer in StoredAnswers(Path(made)).contents()
        }
    fresh[stored.file_of(WITHOUT_WRITER)] = WITHOUT_WRITER, LocalBackend(settings).made(WITHOUT_WRITER)
    stale = [file for file in stored.folder.glob("*") if file not in fresh]
    for file in stale:
        print(f"stale: {file.name}")
    if "--check" in arguments:
        return min(len(stale), 1)
    for file in stale:
        file.unlink()
    for question, answer in fresh.values():
        file = stored.write(question, answer, settings)
        print(f"{file.name:44}{file.stat().st_size:>9,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
