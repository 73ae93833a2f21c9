"""The stations of each theme, in the order of the controls."""

from __future__ import annotations

from ui.pages.tutorials import attention, bert, families, finetuning, translation
from ui.pages.tutorials.station import Station

STATIONS: dict[str, tuple[Station, ...]] = {
    "attention": attention.STATIONS,
    "bert": bert.STATIONS,
    "finetuning": finetuning.STATIONS,
    "families": families.STATIONS,
    "translation": translation.STATIONS,
}
