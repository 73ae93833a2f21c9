"""Hub models run in a separate process: answers are the same, and a crash affects no other process."""

from __future__ import annotations

import base64
import io
import json
import os
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest

from inference import LocalBackend, TraceRequest, UserError, cancellation
from inference.cancellation import Cancelled, CancelToken, use_token
from inference.files import hub
from inference.files.download import Download
from inference.files.embedded import BERT
from inference.request import EMBEDDED
from inference.settings import Settings
from serving import model_process as process_of_model
from serving import worker
from serving.model_process import ModelProcess, PendingAnswers, SubprocessBackend, is_foreign
from tests.support.fakehub import COMMIT, FakeHub, serving
from tests.support.tinymodels import save

TINY = "someone/tiny"
Here = tuple[FakeHub, Settings, Path]


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Here]:
    """Yield a hub, settings for it, and a folder for models; the model TINY is downloaded."""
    folder = tmp_path_factory.mktemp("apart")
    with serving() as fake:
        settings = Settings(endpoint=fake.endpoint, cache=folder / "cache")
        save(folder / "tiny", "bert")
        downloaded((fake, settings, folder), TINY, folder / "tiny")
        yield fake, settings, folder


@pytest.fixture(scope="module")
def apart(here: Here) -> SubprocessBackend:
    """Return a backend that starts a process for TINY with its first request."""
    return SubprocessBackend(here[1])


def downloaded(here: Here, name: str, folder: Path) -> str:
    fake, settings, _folder = here
    fake.add(name, folder)
    Download(hub.fetch_offer(name, None, settings), settings).start().wait(20)
    return name


def held_before_the_bound() -> float:
    """Return the number of bytes that the process of TINY had when its limit was set."""
    (child,) = [one for one in psutil.Process().children() if worker.__name__ in one.cmdline()]
    # The weights are negligible compared to this limit.
    return child.rlimit(psutil.RLIMIT_DATA)[0] - process_of_model.ROOM_TO_RUN


@pytest.mark.slow
def test_a_foreign_model_answers_from_its_process_as_it_would_from_this_one(
    here: Here, apart: SubprocessBackend
) -> None:
    within = LocalBackend(here[1])
    asked = TraceRequest(TINY, "the cat sat on the mat")
    trace, same = apart.trace(asked), within.trace(asked)
    assert (trace.id, trace.model, trace.source) == (same.id, same.model, same.source)
    for layer in range(same.layers):
        for head in range(same.heads):
            assert np.array_equal(trace.weights(layer, head), same.weights(layer, head))
    assert apart.identity(TINY).revision == COMMIT
    assert (apart.status(TINY), len(apart.kept_models)) == ("loaded", 0)
    if sys.platform == "linux":
        assert held_before_the_bound() > 0.6 * process_of_model.OWN, "libraries are no part of what the model may take"
    with pytest.raises(UserError) as far:
        apart.trace(TraceRequest(TINY, "cat " * 5_000))
    with pytest.raises(UserError) as near:
        within.trace(TraceRequest(TINY, "cat " * 5_000))
    assert (far.value.message, far.value.way_out) == (near.value.message, near.value.way_out)
    assert far.value.details == near.value.details


@pytest.mark.slow
def test_several_questions_at_once_get_their_own_answers(apart: SubprocessBackend) -> None:
    texts = [" ".join(["cat"] * many) for many in range(1, 13)]
    found: dict[str, int] = {}

    def ask(text: str) -> None:
        found[text] = len(apart.trace(TraceRequest(TINY, text)).source)

    threads = [threading.Thread(target=ask, args=(text,)) for text in texts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [found[text] for text in texts] == list(range(3, 15))
    assert len(apart.processes) == 1


# The chain expands each "a" to 10**10 letters; the table of characters makes the library abort.
CHAIN = {
    "type": "Sequence",
    "normalizers": [{"type": "Replace", "pattern": {"String": "a"}, "content": "a" * 10}] * 10,
}
TABLE = {"type": "Precompiled", "precompiled_charsmap": base64.b64encode(b"\xff" * 68).decode()}


@pytest.mark.slow
@pytest.mark.parametrize(("normalizer", "times"), [(CHAIN, 1), (TABLE, 2)], ids=["chain", "table"])
def test_a_tokenizer_that_is_a_bomb_ends_its_own_process_alone(here: Here, normalizer: object, times: int) -> None:
    folder = save(here[2] / f"bomb-{len(str(normalizer))}", "bert")
    stated = folder / "tokenizer.json"
    stated.write_text(json.dumps(json.loads(stated.read_text(encoding="utf-8")) | {"normalizer": normalizer}))
    config = folder / "tokenizer_config.json"
    kind = {"tokenizer_class": "PreTrainedTokenizerFast"}  # This class trusts the file.
    config.write_text(json.dumps(json.loads(config.read_text(encoding="utf-8")) | kind))
    name = downloaded(here, f"someone/{folder.name}", folder)
    apart = SubprocessBackend(here[1])
    for _time in range(times):  # The second request starts another process.
        with pytest.raises(UserError, match=f"^{name} ended its process: too little memory, or damaged files"):
            apart.trace(TraceRequest(name, "a cat"))
    assert apart.trace(TraceRequest(EMBEDDED, "a cat")).tokens == ("[CLS]", "a", "cat", "[SEP]")


def test_who_does_not_answer_in_time_is_ended(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_of_model, "GRACE", 0.0)  # The process is still starting.
    apart = SubprocessBackend(Settings(endpoint=here[1].endpoint, cache=here[1].cache, answer_seconds=0.0))
    with pytest.raises(UserError, match="over 0 s"):
        apart.trace(TraceRequest(TINY, "a cat"))
    process = apart.processes.get((TINY, None))
    assert process is not None
    assert process.has_ended


class Told(ModelProcess):
    """A fake of the app's side of a model process; it records messages and answers cancellations or not."""

    def __init__(self, stops_at_once: bool) -> None:
        self.name, self.seconds, self.stops_at_once = "tiny", 60.0, stops_at_once
        self._answers, self._numbers = PendingAnswers(), count()
        self.sent: list[Any] = []
        self.was_ended = False

    def _send(self, value: Any) -> None:
        self.sent.append(value)
        if value[2] is None and self.stops_at_once:
            frame = io.BytesIO()
            worker.send(frame, (value[0], UserError("Stopped.")))
            self._answers.read(io.BytesIO(frame.getvalue()))

    def _end_now(self) -> None:
        self.was_ended = True


@pytest.mark.parametrize(
    ("stops_at_once", "others", "ended"), [(True, False, False), (False, False, True), (False, True, False)]
)
def test_who_has_gone_is_answered_no_more_and_others_are(
    stops_at_once: bool, others: bool, ended: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process_of_model, "GRACE", 0.0)
    process, stop = Told(stops_at_once), CancelToken("ann")
    if others:
        process._answers.expect(7)  # noqa: SLF001
    stop.stop()
    with pytest.raises(Cancelled), use_token(stop):
        process.ask("a question")
    assert process.sent == [(0, hash("ann"), "a question"), (0, 0, None)]
    assert process.was_ended == ended


def test_a_stop_reaches_what_the_process_computes() -> None:
    begun, done = threading.Event(), threading.Event()

    class Computes(LocalBackend):
        def made(self, question: Any) -> Any:
            begun.set()
            cancellation.wait(Future())
            return question

    class Out(io.BytesIO):
        def flush(self) -> None:
            done.set()

    out = Out()
    answering = worker.ModelWorker(Computes(Settings()), out)
    answering.take(3, 1, "a question")
    assert begun.wait(60)
    answering.take(4, 0, None)  # This request is already answered.
    answering.take(3, 0, None)
    assert done.wait(60)
    number, found = worker.receive(io.BytesIO(out.getvalue()))
    assert (number, found.message) == (3, "Stopped.")


def test_a_process_s_end_is_told_to_who_waits_and_to_who_comes_later() -> None:
    answers = PendingAnswers()
    waits = answers.expect(1)
    read, write = os.pipe()
    with open(write, "wb") as stream:
        worker.send(stream, (7, "for nobody"))
        worker.send(stream, (0, "another's"))
    with open(read, "rb") as stream:
        answers.read(stream)
    for future in (waits, answers.expect(2)):
        with pytest.raises(EOFError):
            future.result(0)


def test_what_is_not_here_is_offered_for_download_before_any_process(here: Here) -> None:
    here[0].add("someone/else", here[2] / "tiny")
    apart = SubprocessBackend(here[1])
    with pytest.raises(UserError, match="Download it") as caught:
        apart.trace(TraceRequest("someone/else", "a cat"))
    assert caught.value.details["offer"].id == "someone/else"
    assert len(apart.processes) == 0


def test_what_is_ours_stays_in_this_process(tmp_path: Path) -> None:
    mine = str(save(tmp_path / "mine", "bert"))
    apart = SubprocessBackend(Settings(model_folders=(tmp_path,)))
    apart.trace(TraceRequest(mine, "a cat"))
    assert [is_foreign(name) for name in (EMBEDDED, BERT, mine, TINY)] == [False, False, False, True]
    assert len(apart.processes) == 0
