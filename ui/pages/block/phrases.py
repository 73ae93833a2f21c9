"""What texts about a model's parts state: a paper, and how many of the parameters."""

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
    """A paper by its arXiv id."""
    name = f"arXiv:{number}"
    return PaperLink(_("{paper}, {where}", paper=name, where=where) if where else name, f"{ARXIV}{number}")


def section(number: str) -> str:
    """Where in a paper."""
    return _("section {number}", number=number)


def share_of(build: Build, count: int) -> str:
    """So many parameters, and how many of the model's they are."""
    if not count:
        return _("no parameters")
    return _("{n:,} parameters, {share:.1%} of the model", n=count, share=count / build.total)


def count_of(build: Build, where: str, *names: str) -> int:
    """The parameters of the parts of that name, together; ``where`` is the side, as find takes it."""
    parts = (find(build, where, name) for name in names)
    return sum(part.count for part in parts if part is not None)
