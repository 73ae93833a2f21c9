"""States of runs in one small file beside the result, so that a stopped command can go on."""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass, field
from pathlib import Path

from probing.score import ScoringState

log = logging.getLogger(__name__)


@dataclass(eq=False)
class StateFile:
    """The states in a file; without a file nothing is kept."""

    file: Path | None
    states: dict[str, ScoringState] = field(default_factory=dict)

    @classmethod
    def open(cls, file: Path | None) -> StateFile:
        """What the file holds; nothing when it is missing or holds something else."""
        try:
            stated = json.loads(file.read_text(encoding="utf-8")) if file else []
            states = [ScoringState.from_json(entry) for entry in stated]
        except FileNotFoundError:
            states = []
        except (OSError, ValueError, TypeError, LookupError) as error:
            log.warning("%s holds no states; starting anew.", file, exc_info=error)
            states = []
        return cls(file, {state.key: state for state in states})

    def save(self, state: ScoringState) -> None:
        """Keeps a state; the file is replaced whole, so that a stop in between leaves the last one."""
        self.states[state.key] = state
        if self.file:
            fresh = self.file.with_name(f"{self.file.name}.new")
            fresh.write_text(json.dumps([entry.to_json() for entry in self.states.values()]), encoding="utf-8")
            fresh.replace(self.file)

    def drop(self) -> None:
        """Removes the file."""
        if self.file:
            self.file.unlink(missing_ok=True)
