"""Cancellation of computations after a timeout or a disconnect, between layers or while waiting."""

from __future__ import annotations

import re
import threading
from concurrent.futures import Future

import pytest

from inference.cancellation import GONE, Cancelled, CancelToken, check, current_token, use_token, wait
from inference.record import capture
from inference.record.records import block_of
from tests.support.architectures import Architecture, build, inputs, named

capture.install()
ROWS = ("BERT", "GPT-2", "T5", "MPNet")  # MPNet computes its attention in its own code.


def passing(row: Architecture, stop: CancelToken) -> int:
    """Return the number of layers that run in a pass that is cancelled during its first layer."""
    model = build(row, capture.NAME)
    capture.prepare(model)
    done = 0

    def count(*_given: object) -> None:
        nonlocal done
        done += 1
        stop.stop()

    for path in {block_of(path) for path, _module in model.named_modules()} - {""}:
        model.get_submodule(path).register_forward_hook(count)
    with use_token(stop), pytest.raises(Cancelled):
        capture.record(model, inputs(row, (7,)))
    return done


@pytest.mark.parametrize("name", ROWS)
def test_a_forward_pass_ends_at_its_next_layer(name: str) -> None:
    assert passing(named(name), CancelToken()) == 1


@pytest.mark.parametrize("name", ROWS)
def test_a_stopped_pass_leaves_nothing_behind(name: str) -> None:
    row = named(name)
    model = build(row, capture.NAME)
    capture.prepare(model)
    stop = CancelToken()
    stop.stop()
    for _ in range(2):
        with use_token(stop), pytest.raises(Cancelled, match=re.escape(GONE)):
            capture.record(model, inputs(row, (7,)))
    assert current_token() is None
    assert capture.record_parts(model, inputs(row, (7,)))


def test_its_time_is_over() -> None:
    now = [0.0]
    with use_token(CancelToken(seconds=60, clock=lambda: now[0])):
        check()
        now[0] = 61.0
        with pytest.raises(Cancelled, match="60 seconds") as late:
            check()
    assert late.value.way_out == "text"
    check()


def test_whoever_has_gone_is_asked_about() -> None:
    here = [True]
    with use_token(CancelToken(gone=lambda: not here[0])):
        check()
        here[0] = False
        with pytest.raises(Cancelled):
            check()


def test_how_far_a_pass_is_is_told() -> None:
    told: list[tuple[int, int]] = []
    row = named("BERT")
    model = build(row, capture.NAME)
    capture.prepare(model)
    with use_token(CancelToken(progress=lambda done, of: told.append((done, of)))):
        parts = capture.record_parts(model, inputs(row, (7,)))
    layers = len(parts[0]["encoder"])
    assert told == [(done, layers) for done in range(layers)]


def test_who_waits_for_another_thread_is_let_go_when_stopped() -> None:
    stop, waiting = CancelToken(), threading.Event()
    never: Future[None] = Future()
    ended: list[Cancelled] = []

    def waits() -> None:
        waiting.set()
        with use_token(stop):
            try:
                wait(never)
            except Cancelled as error:
                ended.append(error)

    thread = threading.Thread(target=waits)
    thread.start()
    waiting.wait(60)
    stop.stop()
    stop.stop()
    thread.join(60)
    assert [error.message for error in ended] == ["Stopped."]


def test_a_model_is_readied_for_all_whoever_has_gone() -> None:
    stop = CancelToken()
    stop.stop()
    with use_token(stop):
        assert capture.prepare(build(named("BERT"), capture.NAME))
