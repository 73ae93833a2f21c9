"""Parts that are redrawn at intervals have a container of their own."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Block

from tests.support.repository import ROOT


@pytest.mark.parametrize("folder", ["ui", "pages"])
def test_only_this_module_draws_at_intervals(folder: str) -> None:
    """A fragment without its own container can overwrite the element after it; see `ui/run/redrawing.py`."""
    used = [str(file.relative_to(ROOT)) for file in ROOT.glob(f"{folder}/**/*.py") if "run_every" in file.read_text()]
    assert used == (["ui/run/redrawing.py"] if folder == "ui" else [])


@pytest.mark.parametrize("seconds", [None, 1.0])
def test_a_part_is_in_a_container_of_the_page(seconds: float | None) -> None:
    def script(every: float | None) -> None:
        import streamlit as st

        from ui.run.redrawing import redraw_every

        redraw_every(every, st.text, "part")
        st.text("after")

    page = AppTest.from_function(script, args=(seconds,)).run()
    container, after = page.main.children.values()
    assert [text.value for text in page.text] == ["part", "after"]
    assert isinstance(container, Block)
    assert isinstance(container.children[0], Block)  # The container of the fragment.
    assert not isinstance(after, Block)
