"""Fuzz targets for requests to models: texts, pairs, targets, names, revisions, and a notebook's arguments."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
from hypothesis import strategies as st

import headlight
from attention.external_maps import InvalidAttention
from headlight import notebook
from inference import EMBEDDED, LocalBackend, TraceRequest
from inference.files.embedded import TRANSLATOR
from inference.settings import Settings
from tests.fuzz.door import Door
from tests.fuzz.harming import texts, values
from tests.support.tinymodels import save


@cache
def _folder() -> str:
    return tempfile.mkdtemp(prefix="headlight-fuzz-")


revisions = st.one_of(st.none(), texts)
names = st.one_of(
    texts,
    st.sampled_from((EMBEDDED, TRANSLATOR, "headlight-bert", "gpt2", "a/b", "a/b/c", "../x", "~", "C:/x", "taught-x")),
    st.tuples(texts, texts).map("/".join),
    texts.map(lambda text: f"{_folder()}/{text}"),
)
written = st.one_of(st.none(), st.lists(st.integers(-2, 70_000), max_size=4).map(tuple))


@cache
def _backend() -> LocalBackend:
    return LocalBackend(Settings(offline=True, model_folders=(Path(_folder()),), cache=Path(_folder()) / "cache"))


def _trace(asked: dict[str, Any]) -> None:
    trace = _backend().trace(TraceRequest(**asked))
    assert all(np.isfinite(trace.records(part)[0].weights(0)).all() for part in trace.parts)


def _name(asked: tuple[str, str | None]) -> None:
    model, revision = asked
    if model in (EMBEDDED, TRANSLATOR, "headlight-bert") and not revision:
        return  # Another target covers these models with texts.
    backend = _backend()
    backend.status(model, revision)
    backend.trace(TraceRequest(model=model, revision=revision, text="The cat."))


# --- notebook arguments -------------------------------------------------------------------------------------------


def _maps(shape: tuple[int, ...], kind: str, seed: int) -> Any:
    drawn = np.random.default_rng(seed).random(shape)
    weights = drawn / np.maximum(drawn.sum(-1, keepdims=True), 1e-9) if shape and shape[-1] else drawn
    return weights.tolist() if kind == "list" else weights.astype(kind)


KINDS = ("list", "f4", "f2", "f8", "i8", "O")
arrays = st.one_of(
    st.builds(_maps, st.lists(st.integers(0, 4), max_size=6).map(tuple), st.sampled_from(KINDS), st.integers(0, 9)),
    st.builds(
        _maps,
        st.tuples(st.integers(1, 2), st.integers(1, 3), st.just(3), st.just(3)),
        st.sampled_from(KINDS[:2]),
        st.integers(0, 9),
    ),
    values,
)
tokens = st.one_of(st.lists(texts, max_size=5), st.lists(texts, min_size=3, max_size=3), values)
view_arguments = st.fixed_dictionaries(
    {"attentions": arrays, "tokens": tokens},
    optional={
        "keys": st.one_of(st.none(), tokens),
        "second": st.one_of(st.none(), st.integers(-1, 5), values),
        "special": st.one_of(st.none(), st.lists(st.booleans(), max_size=4), values),
        "signed": st.booleans(),
    },
)


def _view(asked: dict[str, Any]) -> None:
    shown = headlight.view(**asked)
    for name in ("csv", "json"):
        notebook.FORMATS[name](shown.view, shown.selection)
    ElementTree.fromstring(notebook.FORMATS["svg"](shown.view, shown.selection))


def _cell(asked: dict[str, Any]) -> None:
    page = headlight.view(**asked)._repr_html_()
    assert page.encode()


@cache
def _in_memory() -> tuple[Any, Any]:
    from transformers import AutoModel, AutoTokenizer

    folder = save(Path(_folder()) / "bert", "bert")
    return AutoModel.from_pretrained(folder), AutoTokenizer.from_pretrained(folder)


def _explore(asked: dict[str, Any]) -> None:
    shown = headlight.explore(*_in_memory(), **asked)
    assert notebook.FORMATS["csv"](shown.view, shown.selection)


DOORS = (
    Door(
        "text",
        st.fixed_dictionaries(
            {"text": texts},
            optional={"pair": st.one_of(st.none(), texts), "cut": st.one_of(st.none(), st.integers(-2, 600))},
        ),
        _trace,
        share=0.1,
    ),
    Door(
        "text and target",
        st.fixed_dictionaries(
            {"text": texts, "model": st.just(TRANSLATOR)}, optional={"target": texts, "written": written}
        ),
        _trace,
        share=0.03,
    ),
    Door("model and revision", st.tuples(names, revisions), _name, share=0.5),
    Door("notebook, view", view_arguments, _view, (InvalidAttention, ValueError), 0.3),
    Door("notebook, cell", view_arguments, _cell, (InvalidAttention, ValueError), 0.05),
    Door(
        "notebook, explore",
        st.fixed_dictionaries(
            {"text": st.one_of(texts, values)},
            optional={"pair": st.one_of(st.none(), texts), "focus": st.one_of(st.none(), texts, st.integers(-3, 9))},
        ),
        _explore,
        (ValueError,),
        0.1,
    ),
)
