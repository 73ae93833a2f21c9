"""Browser tests of the Measure page: ready sentences, relations, uploaded files and hostile names."""

from __future__ import annotations

import csv
import io
import re

import pytest
from playwright.sync_api import Page, expect

from i18n import typeset_number
from inference import EMBEDDED, LocalBackend
from probing.corpus import AnnotatedCorpus
from probing.formats import load_ready_set
from probing.results import held_out_best, of_relation
from probing.score import HitCounts, ScoringRun, score
from probing.score_sources import SourceRun, decompose_links
from tests.probing.test_score import TABLE, tree
from tests.support.atrest import PATIENCE, click, rest
from tests.support.browser import Problems
from tests.support.visitor import DEEP_LINK, file_of, known, open_page, painted, said, table_of

LONG = 3 * PATIENCE


@pytest.fixture(scope="module")
def grammar() -> tuple[AnnotatedCorpus, HitCounts]:
    corpus = load_ready_set("grammar")
    *_, state = score(LocalBackend(), ScoringRun(corpus, EMBEDDED))
    return corpus, state.tally


def upload(page: Page, name: str, content: bytes, label: str = "Annotated file") -> None:
    page.get_by_test_id("stFileUploader").filter(has_text=label).locator("input").set_input_files(
        {"name": name, "mimeType": "text/plain", "buffer": content}
    )


def test_the_sentences_of_the_app_are_scored_by_the_model_and_what_is_picked_is_kept_in_the_link(
    page: Page, app_url: str, problems: Problems, grammar: tuple[AnnotatedCorpus, HitCounts]
) -> None:
    problems.allow(DEEP_LINK)
    corpus, tally = grammar
    open_page(page, app_url, "/measure", relation="det")
    text = said(page, "^det: head")
    row = known(held_out_best(tally, corpus, "det"))
    assert f"head {row.layer}-{row.head} finds {row.accuracy:.1f}% ({row.low:.1f} to {row.high:.1f})" in text
    assert f"of {row.n:,} held-out links" in text
    assert f"“{row.baseline_name}”: {row.baseline:.1f}%" in text
    assert re.search("p [=<] .*Holm.* 7", text)
    assert re.search(r"Best head for \w+ with random weights: ", text)
    above = sum(entry.more for entry in of_relation(tally, corpus, "det"))
    text = said(page, r"^det \(better direction\), all")
    assert f"{above} of 72 heads" in text
    assert "0 of 72 heads; mean" in text
    expect(page.locator(".js-plotly-plot .main-svg").first).to_be_visible(timeout=PATIENCE)
    click(page.get_by_role("radio", name="dependent to head"))  # The tables have hidden cells with the same text.
    expect(page).to_have_url(re.compile("way=out"))
    click(page.get_by_text("Random weights", exact=True).first)
    expect(page).to_have_url(re.compile("control=0"))
    page.reload()
    text = said(page, "^det: head")
    assert "random weights" not in text


def test_the_table_of_all_heads_can_be_saved(page: Page, app_url: str, problems: Problems) -> None:
    problems.allow(DEEP_LINK)
    open_page(page, app_url, "/measure", data="pronouns", control=0)
    text = said(page, "^coref: head")
    assert "“earlier candidate”: 65.0%" in text
    assert "Chance is 50%." in text
    click(page.get_by_text("Every head", exact=True))
    waited = file_of(page.get_by_role("button", name="Save as CSV"))
    lines = list(csv.DictReader(io.StringIO(table_of(waited.path()))))
    assert len(lines) == 72
    assert {line["baseline_name"] for line in lines} == {"earlier candidate"}


def test_a_file_of_one_s_own_is_scored_and_a_wrong_one_named_by_its_line(
    page: Page, app_url: str, problems: Problems
) -> None:
    problems.allow(DEEP_LINK)
    open_page(page, app_url, "/measure", data="file", format="csv", control=0, least=1)
    said(page, "CSV, TSV, JSON Lines or Parquet")
    upload(page, "own.csv", TABLE.replace(b"it,cat,animal", b"it,dog,animal"))
    expect(page.locator(".headlight-refusal")).to_contain_text('Line 2: the target "dog" is not in its text.')
    upload(page, "own.csv", TABLE)
    said(page, "^link: head")


def test_relations_with_hostile_names_are_text_and_many_sentences_wait_to_be_asked_for_and_can_be_stopped(
    page: Page, app_url: str, problems: Problems
) -> None:
    problems.allow(DEEP_LINK)
    open_page(page, app_url, "/measure", data="file", control=0, least=1)
    said(page, "CoNLL-U")
    name = b"<img src=x onerror=alert(1)>![](http://example.org/a.png)"
    upload(page, "own.conllu", tree(["the cat saw it", "a dog saw it"]).replace(b"odd", name))
    said(page, "^all: head")
    expect(page.locator(".js-plotly-plot .main-svg").first).to_be_visible(timeout=PATIENCE)
    rest(page)
    assert page.locator("img[src*='example.org'], img[onerror]").count() == 0
    sentences = [f"the cat number {at} saw the small dog and it ran away from the old house" for at in range(480)]
    upload(page, "own.conllu", tree(sentences))
    click(page.get_by_role("button", name="Score 480 texts"))
    page.get_by_role("button", name="Stop").click(timeout=LONG)
    stopped = said(page, "^Stopped after [0-9]+ of 8 steps")
    assert not stopped.startswith("Stopped after 8")
    click(page.get_by_role("button", name="Go on"))
    said(page, r"^all \(better direction\), all sentences \(7,200 links, none held out\)")
    expect(page.locator(".headlight-note").filter(has_text="Stopped after")).to_have_count(0)


def test_a_score_or_a_click_on_a_head_opens_its_sentences(
    page: Page, app_url: str, problems: Problems, grammar: tuple[AnnotatedCorpus, HitCounts]
) -> None:
    """Hits and misses match the counts, are listed and saved, and link to Explore."""
    problems.allow(DEEP_LINK)
    counts = known(grammar[1].counts_of("det"))
    open_page(page, app_url, "/measure", relation="det", way="out", layer=2, head=8, control=0)
    hits = int(counts.hits_by_head[0, 2, 8])
    text = said(page, "^Head 2-8, det")
    assert f"hits: {hits}, misses: {counts.n - hits} in {counts.n} links of 56 sentences." in text
    rest(page)
    page.locator(".js-plotly-plot").nth(1).locator(".scatterlayer .point").nth(12 * 3 + 1).click(force=True)
    said(page, "^Head 3-1, det")
    expect(page).to_have_url(re.compile("layer=3"))
    rest(page)
    page.go_back()
    said(page, "^Head 2-8, det")
    click(page.get_by_role("radio", name="Miss"))
    expect(page).to_have_url(re.compile("outcome=misses"))
    expect(page.get_by_text(re.compile("^Miss · line"))).to_have_count(6, timeout=PATIENCE)
    expect(page.get_by_text(re.compile("^Hit · line"))).to_have_count(0)
    waited = file_of(page.get_by_role("button", name="Save the links"))
    lines = list(csv.DictReader(io.StringIO(table_of(waited.path()))))
    assert len(lines) == counts.n, "the file has all links"
    assert {(line["layer"], line["head"], line["relation"]) for line in lines} == {("2", "8", "det")}
    assert sum(line["hit"] == "1" for line in lines) == hits
    assert {line["half"] for line in lines} == {"selection", "held out"}
    click(page.get_by_role("link", name="Open Attention heads").first)
    expect(page).to_have_url(re.compile("layer=2.*head=8|head=8.*layer=2"))
    painted(page, layer=2, head=8, focus=1)


def test_the_sources_of_a_head_are_computed_when_unfolded(page: Page, app_url: str, problems: Problems) -> None:
    problems.allow(DEEP_LINK)
    open_page(page, app_url, "/measure", relation="nsubj", way="out", layer=2, head=8, control=0)
    said(page, "^Head 2-8, nsubj")
    rest(page)
    expect(page.locator(".headlight-note").filter(has_text="nsubj, head 2-8:")).to_have_count(0)
    figures = page.locator(".js-plotly-plot")
    before = figures.count()
    click(page.get_by_text("Why this head?", exact=True))
    report = decompose_links(LocalBackend(), SourceRun(load_ready_set("grammar"), "nsubj", 2, 8, EMBEDDED, direction=0))
    text = said(page, "^nsubj, head 2-8:")
    excess = f"{report.excess.mean:+.2f} ({report.excess.low:.2f} to {report.excess.high:.2f})"
    assert typeset_number(excess) in text
    directions = known(report.directions)
    assert f"{directions.scores[0].found:.1f}% of {directions.links}" in text
    expect(figures).to_have_count(before + 2, timeout=LONG)
    expect(figures.nth(before).locator(".errorbar").first).to_be_attached()
    rows = list(
        csv.DictReader(io.StringIO(table_of(file_of(page.get_by_role("button", name="Save as CSV").last).path())))
    )
    means = [float(row["mean"]) for row in rows if row["side"] == "key"]
    assert sum(means) == pytest.approx(report.excess.mean, abs=1e-4)
