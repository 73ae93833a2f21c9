"""Address parameters of the page Find."""

from __future__ import annotations

from dataclasses import dataclass

from ui.state.params import drop_place
from viz.options import option

ROLES = ("source", "first", "second")


@dataclass(frozen=True)
class FindOptions:
    """Options of the page Find, besides the shared view state."""

    against: int | None = option(None, of_text=drop_place)  # token of the second candidate
    inward: bool = False  # the candidates attend to the source
    clicking: str = option("source", choices=ROLES)  # role that a clicked word gets
    other: str = ""  # the changed text; "" is that of the probe
    neutral: str = ""  # texts with harmless changes, one per line; "" are those of the probe
