"""Phrases for explanations of a model's parts: links to papers and parameter counts."""

from __future__ import annotations

from i18n import _
from inference.tasks.anatomy import Build
from ui.pages.block.plan import find
from viz.components.block.block import PaperLink

ARXIV = "https://arxiv.org/abs/"
TRANSFORMER = "1706.03762"
GATED = "2002.05202"
ACTIVATIONS = {"GELU": "1606.08415", "SiLU": "1710.05941", "SwiGLU": GATED, "GeGLU": GATED, "ReGLU": GATED}
BY_POSITION = {"rotary": "2104.09864", "relative": "1803.02155", "alibi": "2108.12409"}


def paper(number: str, where: str = "") -> PaperLink:
    """Return the link to a paper by its arXiv id; ``where`` names a place in the paper."""
    name = f"arXiv:{number}"
    return PaperLink(_("{paper}, {where}", paper=name, where=where) if where else name, f"{ARXIV}{number}")


def section(number: str) -> str:
    """Return the translated name of a section of a paper."""
    return _("section {number}", number=number)


def share_of(build: Build, count: int) -> str:
    """Describe a number of parameters and its share of the model's total."""
    if not count:
        return _("no parameters")
    return _("{n:,} parameters, {share:.1%} of the model", n=count, share=count / build.total)


def count_of(build: Build, where: str, *names: str) -> int:
    """Return the total number of parameters in the named parts; ``where`` is the side, as in ``find``."""
    parts = (find(build, where, name) for name in names)
    return sum(part.count for part in parts if part is not None)
