"""The comparison of two atlases on its page, and its saved table."""

from __future__ import annotations

import io

import pandas as pd
import pytest

from attention.spreadsheet import file_stem
from inference.files.embedded import BERT
from inference.tasks.atlas import ATLAS_MEASURES
from probing.atlas.compare import compare_atlases
from tests.support.asking import asked, notes
from ui.pages.atlas_compare.options import PROFILE, SHARED
from ui.pages.atlas_compare.page import (
    CLEAR,
    UNITS,
    comparison_csv,
    comparison_provenance,
    describe_change,
    largest_change,
)
from ui.show import chart
from ui.show.atlases import open_atlas, shipped_atlases

OTHER = next(name for name in shipped_atlases() if name != BERT)


def test_the_saved_table_has_every_measure_of_every_head_and_defines_its_columns() -> None:
    first, second = open_atlas(BERT), open_atlas(OTHER)
    found = compare_atlases(first, second)
    table = pd.read_csv(io.StringIO(comparison_csv(found).lstrip("\ufeff")))
    assert len(table) == len(found.heads) * len(ATLAS_MEASURES)
    at = found.order[0]
    row = table[table["measure"] == "entropy"].iloc[0]
    place = ATLAS_MEASURES.index("entropy")
    assert (row["layer"], row["head"]) == (found.heads[at].layer, found.heads[at].head)
    assert row["difference"] == pytest.approx(float(found.difference[at, place]))
    assert bool(row["clear"]) is bool(found.clear[at, place])
    about = comparison_provenance(first, second)
    assert f"Bonferroni-corrected for {len(table)} intervals" in about["low, high"]
    assert (about["first"]["model"], about["second"]["model"]) == (BERT, OTHER)
    assert file_stem("headlight-atlas-changes", about).startswith(f"headlight-atlas-changes_{BERT}_")


@pytest.mark.slow
def test_the_page_defines_its_rings_and_names_the_largest_change(monkeypatch: pytest.MonkeyPatch) -> None:
    tests: list[str] = []
    monkeypatch.setattr(chart, "_draw_menu", lambda *menu: tests.append(menu[-1]))
    page = asked("atlas_compare", show="distance")
    assert any("Ring: " in caption.value and "any measure" in caption.value for caption in page.caption)
    assert tests
    assert all("Ring: " in test and CLEAR in test and "Click" not in test for test in tests), tests
    headings = [list(frame.value.columns) for frame in page.dataframe]
    assert any(heading.endswith("(Bonferroni)") for names in headings for heading in names)
    found = compare_atlases(open_atlas(BERT), open_atlas(OTHER))
    largest = largest_change(found, "distance")
    label = found.heads[largest].label
    assert largest != found.order[0]
    assert any(f"{label} " in note and describe_change(found, largest, "distance")[1:] in note for note in notes(page))
    assert any(label in heading.value for heading in page.header)
    for place, measure in enumerate(ATLAS_MEASURES):
        at = largest_change(found, measure)
        change = found.difference[at, place]
        assert abs(change) == abs(found.difference[:, place]).max()
        number, *unit = describe_change(found, at, measure).split()
        assert float(number.replace("−", "-")) == pytest.approx(change, abs=0.0005)
        assert unit == [UNITS[name] for name in (measure,) if name in UNITS]
    assert largest_change(found, PROFILE) == largest_change(found, SHARED) == found.order[0]
    assert describe_change(found, found.order[0], SHARED).endswith(f" {found.distances.max():.2f}")
