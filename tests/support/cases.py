"""Decorators that run a test over many cases or seeds in a single item and name the cases that fail."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from reprlib import Repr
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

Test = Callable[..., None]
SHORT = Repr()
SHORT.maxstring = SHORT.maxother = 120


def loop_over(
    names: str | Sequence[str], cases: Iterable[Any], ids: Iterable[object] | Callable[[Any], object] | None = None
) -> Callable[[Test], Test]:
    """Run a test for each of ``cases`` in a single item.

    The arguments are those of ``pytest.mark.parametrize``. All cases run, and each failure has a note with its case.
    The cases share the fixtures of the item, so a test that changes a fixture needs ``parametrize``.
    """
    keys = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    rows = [dict(zip(keys, [case] if len(keys) == 1 else case, strict=True)) for case in cases]
    assert rows, f"There are no cases of {keys}."
    labels = [_label(row, ids) for row in rows] if ids is None or callable(ids) else list(map(str, ids))

    def decorate(test: Test) -> Test:
        signature = inspect.signature(test)
        assert set(keys) <= set(signature.parameters), f"{test.__name__} does not take all of {keys}."

        others = {name: parameter for name, parameter in signature.parameters.items() if name not in keys}

        @wraps(test)
        def run(*arguments: Any, **fixtures: Any) -> None:
            fixtures |= zip(others, arguments, strict=False)  # hypothesis passes what it drew by position
            failures = []
            for row, label in zip(rows, labels, strict=True):
                try:
                    test(**fixtures, **row)
                except Exception as failure:
                    failure.add_note(f"Case: {label}")
                    failures.append(failure)
            if len(failures) == 1:
                raise failures[0]
            if failures:
                raise ExceptionGroup(f"{len(failures)} of {len(rows)} cases failed", failures)

        vars(run)["__signature__"] = signature.replace(parameters=list(others.values()))
        return run

    return decorate


def _label(row: dict[str, Any], ids: Callable[[Any], object] | None) -> str:
    """Return the parameters of a case as text; ``ids`` may name a value."""
    return ", ".join(f"{key}={(ids and ids(value)) or SHORT.repr(value)}" for key, value in row.items())


def draw_seeds(count: int) -> Callable[[Test], Test]:
    """Run a test for ``count`` different values of its parameter ``seed``, which are the same in every run."""

    def decorate(test: Test) -> Test:
        fixed = settings(
            max_examples=count,
            derandomize=True,
            deadline=None,
            database=None,
            suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
        )
        return fixed(given(seed=st.integers(0, 2**32 - 1))(test))

    return decorate
