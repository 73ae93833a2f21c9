"""Address parameters of the page Find."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ui.state.params import drop_place

ROLES = ("source", "first", "second")


@dataclass(frozen=True)
class FindOptions:
    """Options of the page Find, besides the shared view state."""

    CHOICES: ClassVar[dict[str, tuple[str, ...]]] = {"clicking": ROLES}
    OF_TEXT: ClassVar = {"against": drop_place}

    against: int | None = None  # token of the second candidate
    inward: bool = False  # the candidates attend to the source
    clicking: str = "source"  # role that a clicked word gets
    other: str = ""  # the changed text; "" is that of the probe
    neutral: str = ""  # texts with harmless changes, one per line; "" are those of the probe
