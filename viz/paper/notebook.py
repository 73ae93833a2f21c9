"""A notebook that reproduces a head's weights through the public Python interface."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from attention.view import View
from i18n import _
from viz.export import check_cells


def weights_notebook(view: View, layer: int, head: int, request: Mapping[str, Any]) -> bytes:
    """Return a Jupyter notebook (nbformat 4.5) whose last variable ``weights`` is a head's map, (query, key).

    ``request`` are the fields of the TraceRequest that gives the view's trace; ``layer`` and ``head`` count from 0.
    The notebook fails if its largest weight differs by more than 0.001. Raise TooLong beyond MOST_CELLS weights.
    """
    check_cells(view)
    fields = ", ".join(f"{name}={value!r}" for name, value in request.items())
    look = f"part={view.part!r}, words={view.words}, special={view.special}, renormalise={view.renormalise}"
    load = (
        "import numpy as np\n\nfrom attention.view import View\nfrom inference import LocalBackend, TraceRequest\n\n"
        f"trace = LocalBackend().trace(TraceRequest({fields}))"
    )
    largest = float(view.weights(layer, head).max())
    compute = (
        f"view = View(trace, {look})\nweights = view.weights({layer}, {head})\n"
        f"np.testing.assert_allclose(weights.max(), {largest!r}, atol=1e-3)\nweights"
    )
    sources = [("markdown", methods(view, layer, head)), ("code", load), ("code", compute)]
    return json.dumps(_document(sources), ensure_ascii=False, indent=1).encode()


def methods(view: View, layer: int, head: int) -> str:
    """Return the sentence for the methods section: the head, the model with its weights' hash, and the tokens."""
    model = view.trace.model
    return _(
        "Attention weights of head {layer}-{head} of {model} (revision {revision}, weights SHA-256 {weights}), "
        "counted from 0, on a text of {tokens} tokens.",
        layer=layer,
        head=head,
        model=model.name,
        revision=model.revision or "–",
        weights=model.weights or "–",
        tokens=len(view.trace.source),
    )


def _document(sources: list[tuple[str, str]]) -> dict[str, Any]:
    cells: list[dict[str, Any]] = [
        {
            "cell_type": kind,
            "id": f"cell-{at}",
            "metadata": {},
            "source": source.splitlines(keepends=True),
            **({"execution_count": None, "outputs": []} if kind == "code" else {}),
        }
        for at, (kind, source) in enumerate(sources)
    ]
    return {"cells": cells, "metadata": {"language_info": {"name": "python"}}, "nbformat": 4, "nbformat_minor": 5}
