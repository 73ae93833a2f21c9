"""The comparison of two atlases on its page, and its saved table."""

from __future__ import annotations

import io

import pandas as pd
import pytest

from attention.spreadsheet import file_stem
from inference.files.embedded import BERT
from inference.tasks.atlas import ATLAS_MEASURES
from probing.atlas.compare import compare_atlases
from tests.support.asking import asked
from ui.pages.atlas_compare.page import comparison_csv, comparison_provenance
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
def test_the_page_defines_its_rings_and_interval() -> None:
    page = asked("atlas_compare")
    assert any("Ring: " in caption.value and "any measure" in caption.value for caption in page.caption)
    headings = [list(frame.value.columns) for frame in page.dataframe]
    assert any(heading.endswith("(Bonferroni)") for names in headings for heading in names)
