"""The bundled data sets: files, agreement with their cards, and licences."""

from __future__ import annotations

import hashlib
from collections import Counter
from pathlib import Path

import pytest

from inference.errors import UserError
from probing.labelled import ready_sets
from probing.labelled.__main__ import main
from probing.labelled.conll import bio_tags, to_bio
from probing.labelled.evaluation import spans
from probing.labelled.labeled_texts import LabeledText, TaggedText
from probing.labelled.ready_sets import CARDS, FOLDER, LICENCES, QUESTIONS, DatasetCard, load

EACH = pytest.mark.parametrize("card", [*CARDS, QUESTIONS], ids=lambda card: card.id)
README = (FOLDER / "README.md").read_text(encoding="utf-8")
SPANS = {  # Total over train, dev and test, as in the published files.
    "uner-zh": {"LOC": 3_662, "PER": 2_598, "ORG": 1_374},
    "wnut-17": {
        "location": 622,
        "person": 1_130,
        "group": 303,
        "corporation": 255,
        "product": 256,
        "creative-work": 245,
    },
}
CLASSES = {
    "snips-intents": 7,
    "sentence-polarity": 2,
    "sib-200-en": 7,
    "sib-200-zh": 7,
}
MOST_BYTES = 1_500_000  # Limit for all files together, because every copy of the repository contains them.


@pytest.mark.parametrize("card", CARDS, ids=lambda card: card.id)
def test_a_set_has_the_rows_and_labels_of_its_card(card: DatasetCard) -> None:
    labels = load(card.id)
    assert hashlib.sha256(card.path.read_bytes()).hexdigest() == card.sha256
    assert labels.kind == card.kind
    assert tuple(map(len, (labels.train, labels.dev, labels.test))) == card.rows
    rows = [*labels.train, *labels.dev, *labels.test]
    assert all(row.text == row.text.strip() and row.text for row in rows)
    if card.kind == "classify":
        found = [
            {row.label for row in part if isinstance(row, LabeledText)}
            for part in (labels.train, labels.dev, labels.test)
        ]
        assert found[0] == set(labels.labels)
        assert found[1] | found[2] <= found[0]
        assert len(labels.labels) == CLASSES[card.id]
        assert list(labels.labels) == sorted(labels.labels)
    else:
        sentences = [row for row in rows if isinstance(row, TaggedText)]
        counts = Counter(kind for row in sentences for kind, *_ in spans(row.tags))
        assert labels.labels == bio_tags(counts)
        assert counts == SPANS.get(card.id, counts)
        assert {tag for row in sentences for tag in row.tags} <= set(labels.labels)
        assert len(sentences) == len(rows)


@pytest.mark.parametrize("card", [card for card in CARDS if card.kind == "tag"], ids=lambda card: card.id)
def test_words_and_spans_are_where_they_are_said_to_be(card: DatasetCard) -> None:
    labels = load(card.id)
    for row in (*labels.train, *labels.dev, *labels.test):
        assert isinstance(row, TaggedText)
        assert len(row.words) == len(row.tags) > 0
        assert to_bio(row.tags) == list(row.tags)
        at = 0
        for start, end in row.words:  # Words are ordered and disjoint, with only white space between them.
            assert at <= start < end
            assert not row.text[at:start].strip()
            assert not any(map(str.isspace, row.text[start:end]))
            at = end
        assert at == len(row.text)
    apart = card.language == "English"
    text = "".join(row.text for row in labels.test)
    assert (text.count(" ") > len(text) / 20) is apart


def test_spans_by_hand() -> None:
    for name, text, wanted in [
        ("snips-slots", "playlist", {"Andy Hunter"}),
        ("uner-zh", "圣伯多禄堂（Iglesia de San Pedro）", {"Iglesia de San Pedro", "圣伯多禄堂"}),
    ]:
        rows = [row for row in load(name).test if text in row.text and isinstance(row, TaggedText)]
        found = {
            row.text[row.words[first][0] : row.words[end - 1][1]] for row in rows for _, first, end in spans(row.tags)
        }
        assert found & wanted


def test_both_cards_of_snips_have_the_same_texts_and_both_of_sib_the_same_topics() -> None:
    intents, slots, english, chinese = map(load, ("snips-intents", "snips-slots", "sib-200-en", "sib-200-zh"))
    assert [row.text for row in intents.test] == [row.text for row in slots.test]
    assert len(slots.labels) == 1 + 2 * 39
    topics = [[row.label for row in labels.test if isinstance(row, LabeledText)] for labels in (english, chinese)]
    assert topics[0] == topics[1]


@EACH
def test_a_set_carries_its_licence_source_and_attribution(card: DatasetCard) -> None:
    assert card.licence_address == LICENCES[card.licence]
    assert card.licence_address in README
    assert card.file in README
    assert all((card.title, card.sentence, card.attribution, card.citation))
    assert card.source.startswith("https://")
    assert card.source.removesuffix("/") in README
    line = next(line for line in README.splitlines() if f"`{card.file}`" in line)
    assert " / ".join(f"{many:,}" for many in card.rows) in line
    assert (
        card.licence.replace("CC-", "CC ").replace("CC0-", "CC0 ").replace("-4.0", " 4.0").replace("-3.0", " 3.0")
        in line
    )


def test_every_file_is_of_a_card_and_all_are_small() -> None:
    there = {file.name: file.stat().st_size for file in FOLDER.iterdir()}
    assert there.keys() == {card.file for card in (*CARDS, QUESTIONS)} | {"README.md"}
    assert sum(there.values()) < MOST_BYTES
    assert len(ready_sets.BY_ID) == len(CARDS)


def test_a_task_that_is_not_there_is_said() -> None:
    with pytest.raises(UserError, match=r"“mnist”.* snips"):
        load("mnist")


def test_the_command_packs_what_is_published(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for part in ("train", "dev", "test"):
        texts = [f"{part} {at} of Ann's" for at in range(20)]
        (tmp_path / f"{part}.tsv").write_text("".join(f"{'ab'[at % 2]}\t{text}\n" for at, text in enumerate(texts)))
        lines = (f"{part}\tO\n{at}\tB-NUMBER\nof\tO\nAnn\tB-PER\n's\tO\n\n" for at in range(20))
        (tmp_path / f"{part}.conll").write_text("".join(lines))
    tables, columns = (
        [str(tmp_path / f"{part}.{end}") for part in ("train", "dev", "test")] for end in ("tsv", "conll")
    )
    out = tmp_path / "both.xz"
    given = ["both", str(out), "--train", tables[0], "--dev", tables[1], "--test", tables[2], "--spans", *columns]
    assert main(given) == 0
    train, dev, _ = ready_sets.unpack(out.read_bytes())
    assert ready_sets.parse_labeled(dev[3]) == LabeledText("dev 3 of Ann's", "b")
    assert ready_sets.parse_tagged(dev[3]).tags == ("O", "B-NUMBER", "O", "B-PER", "O")
    assert len(train) == 20
    assert "both.xz: 20 train, 20 dev, 20 test; " in capsys.readouterr().out
    assert main(["tag", str(out), "--train", columns[0], "--test", columns[2]]) == 0
    assert [len(part) for part in ready_sets.unpack(out.read_bytes())] == [18, 2, 20]
    assert main(["classify", str(out), "--train", str(tmp_path / "none.tsv")]) == 2
    assert main([*given[:-1], columns[0]]) == 2
    assert "do not make up “test 0 of Ann's”" in capsys.readouterr().err
