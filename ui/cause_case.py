"""One experiment on the page Cause: what is asked, what is watched, what is removed; and what its figures share."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from attention.cause import Set
from attention.view import View
from ui.cause_edits import Head
from ui.cause_watch import Cause, Watch


@dataclass(frozen=True, eq=False)
class Case:
    """What is asked on this page: the text as read, what is watched, what is removed."""

    view: View
    watch: Watch
    edits: Set
    head: Head  # selected on all pages
    options: Cause
    base: int  # from which layers and heads are counted

    @property
    def places(self) -> list[Head]:
        """Every head."""
        records = self.view.trace.records()
        return [(layer, head) for layer, record in enumerate(records) for head in range(record.heads)]

    @property
    def tokens(self) -> int:
        """Tokens of the text."""
        return len(self.view.trace.source)

    def name(self, place: Head) -> str:
        """A head as it is called."""
        return f"{place[0] + self.base}-{place[1] + self.base}"


def save(table: str, name: str) -> None:
    """A button that hands out a table."""
    st.download_button(
        "Save the table",
        table,
        f"headlight-{name}.csv",
        "text/csv",
        icon=":material/download:",
        key=f"cause_save_{name}",
        help="These numbers as CSV, all digits",
    )
