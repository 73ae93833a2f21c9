"""Labels of heads in an atlas: their direction, their numbers with n, and the baselines that they exceed."""

from __future__ import annotations

from dataclasses import replace

from i18n import _
from inference.files.embedded import BERT
from probing.atlas.labels import HeadLabel, head_labels
from ui.pages.head_atlas.page import LABEL_COLUMNS
from ui.show.atlases import RANDOM, brief_label, label_text, open_atlas

LINK = HeadLabel(0, "case", "dependent to head", 0.61, 0.58, 0.64, 1234, 0.12, 0.38)


def test_a_label_names_its_direction_n_and_baselines() -> None:
    said = label_text(LINK)
    assert said.endswith(f"{_('Best rule')}: 38%. {RANDOM}: 12%.")
    for part in ("dependent to head", "1,234", "58% to 64%"):
        assert part in said
    for part in ("dependent to head", "1,234", "61%", "12%"):
        assert part in brief_label(LINK)


def test_a_share_below_one_does_not_read_as_all() -> None:
    share = HeadLabel(0, "previous", "", 0.9975, 0.9973, 0.9977, 500, 0.09)
    assert "99.8% of attention in 500 held-out texts (99.7% to 99.8%)" in label_text(share)
    assert "99.8%" in brief_label(share)


def test_a_shipped_atlas_gives_n_and_random_weights_of_its_labels() -> None:
    atlas = open_atlas(BERT)
    for label in head_labels(atlas):
        assert label.value > label.random > 0
        assert (label.rule is None) == (not label.direction)
        if label.rule is None:
            assert label.n == atlas.manifest["texts"] // 2
        else:
            assert label.n in {row[-1] for row in atlas.manifest["relations"][label.kind]["rows"]}


def test_a_share_of_attention_is_not_counted_in_links() -> None:
    share = HeadLabel(0, "special", "", 0.44, 0.43, 0.45, 500, 0.19)
    link = replace(share, kind="case", direction="source to target", rule=0.2)
    assert "attention" in label_text(share)
    assert "attention" not in label_text(link)
    assert "links" in label_text(link)


def test_the_saved_labels_define_their_interval_and_n() -> None:
    assert {"low, high", "n", "random weights, largest"} <= set(LABEL_COLUMNS)
    assert "95%" in LABEL_COLUMNS["low, high"]
