"""The model of a static site: the files with which a browser runs it, made from the model's name."""

from __future__ import annotations

from dataclasses import replace

from headlight.command_input import positional_prior_of
from headlight.notebook import Shown
from inference.backend import LocalBackend
from inference.browser.export import ROWS, export_encoder, export_masked
from inference.files.embedded import BERT
from inference.request import TraceRequest
from viz.components.explore.content import places
from viz.site_live import LiveMasks, LiveModel, OpenedText

# The page computes the weights of TEXT again, and states the largest difference; it shows both texts as a pair, too.
TEXT = "The animal didn't cross the street because it was too tired."
SECOND = "The animal was too tired to cross the street."


def live_model(backend: LocalBackend, model: str, revision: str | None) -> LiveModel:
    """Return a model for the browser; raise UserError if it is not a plain BERT."""
    exported = export_encoder(model, revision, backend.settings)
    request = TraceRequest(model, TEXT, revision=revision)
    trace = backend.trace(request)
    prior = positional_prior_of(backend, request, trace)
    single, pair = Shown(trace, known=prior), Shown(backend.trace(replace(request, pair=SECOND)), known=prior)
    return LiveModel(
        name=exported.name,
        layers=exported.sizes.layers,
        heads=exported.sizes.heads,
        channels=exported.sizes.channels,
        graph=exported.graph,
        rows=exported.rows,
        rows_per_file=ROWS,
        tokenizer=exported.tokenizer,
        pooling=exported.pooling,
        single=OpenedText(single.view, single.summary, single.selection),
        pair=OpenedText(pair.view, pair.summary, pair.selection),
        priors=places(prior, single.view),
    )


def live_masks(backend: LocalBackend) -> LiveMasks:
    """Return the embedded model for masked words."""
    return LiveMasks(BERT, *export_masked(BERT, backend.settings))
