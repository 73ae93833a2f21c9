"""Labels of heads in an atlas: their numbers, and the name of the baseline that they exceed."""

from __future__ import annotations

from dataclasses import replace

from i18n import _
from probing.atlas.labels import HeadLabel
from ui.pages.head_atlas.page import RANDOM, label_text


def test_a_label_names_its_baseline() -> None:
    label = HeadLabel(0, "case", "source to target", 0.61, 0.58, 0.64, 0.38, is_rule=True)
    assert label_text(label).endswith(f"{_('Best rule')}: 38%.")
    assert label_text(replace(label, is_rule=False)).endswith(f"{RANDOM}: 38%.")


def test_a_share_of_attention_is_not_counted_in_links() -> None:
    share = HeadLabel(0, "special", "", 0.44, 0.43, 0.45, 0.19)
    link = replace(share, kind="case", direction="source to target")
    assert "attention" in label_text(share)
    assert "attention" not in label_text(link)
    assert "links" in label_text(link)
