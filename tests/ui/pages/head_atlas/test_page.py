"""Labels of heads in an atlas: their numbers, and the name of the baseline that they exceed."""

from __future__ import annotations

from dataclasses import replace

from probing.atlas.labels import HeadLabel
from ui.pages.head_atlas.page import label_text


def test_a_label_names_its_baseline() -> None:
    label = HeadLabel(0, "case", "source to target", 0.61, 0.58, 0.64, 0.38, is_rule=True)
    assert label_text(label).endswith("best rule 38%")
    assert label_text(replace(label, is_rule=False)).endswith("random weights 38%")
