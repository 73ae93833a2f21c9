"""Explanations of the parts before the first layer: embeddings and projection."""

from __future__ import annotations

from i18n import _
from inference.tasks.anatomy import POSITIONS, PROJECTION, SEGMENTS, TOKENS, Build
from ui.pages.block.phrases import TRANSFORMER, paper, section, share_of
from ui.pages.block.plan import find
from ui.show.text import join_sentences
from viz.components.block.block import PartExplanation


def tokens(build: Build, where: str) -> PartExplanation:
    """Explain the token embeddings."""
    part = find(build, where, TOKENS)
    rows, width = part.tensors[0].shape if part else (0, 0)
    again = [name for first, name in build.tied if part and first == part.tensors[0].name]
    tied = any(top.tied for top in build.tops) or any("head" in name or "decoder.weight" in name for name in again)
    text = [
        _(
            "Each token selects one of {rows:,} rows of {width:,} numbers ({share}).",
            rows=rows,
            width=width,
            share=share_of(build, rows * width),
        )
    ]
    if tied:
        text.append(_("The task head reuses this table; its parameters count once."))
    source = paper("1608.05859") if tied else paper(TRANSFORMER, section("3.4"))
    return PartExplanation(_("Token embeddings"), join_sentences(*text), (source,))


def positions(build: Build, where: str) -> PartExplanation:
    """Explain the position embeddings that are added before the first layer."""
    part = find(build, where, POSITIONS)
    share = share_of(build, part.count if part else 0)
    if "sinusoidal" in build.positions:
        return PartExplanation(
            _("Position embeddings"),
            _(
                "Fixed sines and cosines encode the position; nothing is learned ({share}).",
                share=share,
            ),
            (paper(TRANSFORMER, section("3.5")),),
        )
    return PartExplanation(
        _("Position embeddings"),
        _(
            "A learned vector for each of {rows:,} positions is added ({share}).",
            rows=part.tensors[0].shape[0] if part else 0,
            share=share,
        ),
        (paper("1705.03122"), paper(TRANSFORMER, section("3.5"))),
    )


def segments(build: Build, where: str) -> PartExplanation:
    """Explain the segment embeddings."""
    part = find(build, where, SEGMENTS)
    rows = part.tensors[0].shape[0] if part else 0
    text = _("Learned vectors, one per segment ({rows}), are added.", rows=rows)
    return PartExplanation(_("Segment embeddings"), text, (paper("1810.04805"),))


def projection(build: Build, where: str) -> PartExplanation:
    """Explain the projection from the embedding width to the model width."""
    part = find(build, where, PROJECTION)
    rows, columns = part.tensors[0].shape[:2] if part else (0, 0)
    text = _(
        "Maps {columns:,} embedding dimensions to the layers' {rows:,}, which saves parameters.",
        columns=columns,
        rows=rows,
    )
    return PartExplanation(_("Projection"), text, (paper("1909.11942"),))
