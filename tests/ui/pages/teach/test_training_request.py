"""Requests for a training: ready data in a single press, and the reader's own files."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from attention.answer_windows import LENGTH, SHORTEST
from inference import EMBEDDED
from inference.catalogue.listing import EMBEDDED_CARD
from probing.labelled import ready_sets
from probing.labelled.labeled_texts import LabeledDataset
from probing.labelled.squad import QuestionSet
from probing.text_files import guess_message
from tests.support.asking import asked, notes, press, says, stands
from tests.support.squadfiles import letters
from tests.support.taughtfolders import put, taught_in
from training.jobs import job
from training.jobs import job as jobs
from training.jobs import job as packed
from training.jobs.job import CHARACTERS, LEAST_STEPS, Training
from ui.pages.teach.own_files import WANTED
from ui.pages.teach.training_request import fitting

TITLES = "".join(f"第{at}个{'球赛' if at % 2 else '股市'}\t{at % 2}\n" for at in range(40)).encode()
HOSTILE = b"note,said,which\n" + b"".join(
    f"n{at},<b>{at}</b> is {'odd' if at % 2 else 'even'},=cmd|{at % 2}\n".encode() for at in range(40)
)
NAMES = "".join(f"安{at} B-PER\n住 O\n巴黎 S-LOC\n\n" for at in range(40)).encode()


@pytest.fixture(autouse=True)
def place(tmp_path: Path) -> Iterator[Path]:
    with taught_in(tmp_path) as place:
        yield place


def bring(page: AppTest, part: str, name: str, content: bytes) -> AppTest:
    return page.file_uploader(key=f"teach_file_{part}").set_value((name, content, "text/plain")).run()


def own(**query: object) -> AppTest:
    """Return the page for uploads, with a model from random weights, which needs no pretrained tokenizer."""
    return asked("teach", data="own", start=CHARACTERS, **query)


def job_in(place: Path) -> Training:
    (folder,) = (folder for folder in place.iterdir() if folder.is_dir())
    return jobs.read(folder)


def test_the_page_states_the_least_number_of_steps() -> None:
    page = asked("teach")
    assert any(f"at least {LEAST_STEPS} steps" in caption.value for caption in page.caption)


def cells(page: AppTest, at: int) -> dict[str, list[object]]:
    found = page.dataframe[at].value.to_dict("list")
    return {str(name): list(column) for name, column in found.items()}


@pytest.mark.slow  # The imports of the libraries are slow.
def test_a_first_visit_needs_one_press(place: Path) -> None:
    page = asked("teach")
    says(page, "seven requests")
    says(page, "on 700 rows")
    says(page, "At most 3 min")
    assert page.caption[0].value.startswith("Licence: [CC0-1.0](https://creativecommons.org/publicdomain/zero/1.0/).")
    assert cells(page, 0)["label"][:2] == ["AddToPlaylist", "BookRestaurant"]
    assert cells(page, 1)["train"][0] == 1907
    says(page, "exceeds 64 tokens")
    press(page, "Fine-tune")
    job = job_in(place)
    assert (job.data, job.model, job.kind, job.settings.minutes) == ("snips-intents", EMBEDDED, "classify", 3.0)
    assert job.title == f"{ready_sets.BY_ID[job.data].title} · {EMBEDDED}"
    assert page.query_params["job"] == job.id
    says(page, "begins now")
    stands(page)


@pytest.mark.slow
def test_what_reads_the_script_is_started_from() -> None:
    chinese = replace(EMBEDDED_CARD, id="of Chinese", language="Chinese", downloaded=False)
    assert fitting(ready_sets.load("sib-200-en"), [EMBEDDED_CARD]) == EMBEDDED
    assert fitting(ready_sets.load("sib-200-zh"), [EMBEDDED_CARD, chinese]) == CHARACTERS
    assert fitting(ready_sets.load("uner-zh"), [EMBEDDED_CARD, replace(chinese, downloaded=True)]) == "of Chinese"


def test_a_chosen_encoder_is_preselected() -> None:
    data, own = ready_sets.load("sib-200-en"), replace(EMBEDDED_CARD, id="own")
    assert fitting(data, [EMBEDDED_CARD, own], "own") == "own"
    for unfit in (replace(own, downloaded=False), replace(own, kind="encoder-decoder")):
        assert fitting(data, [EMBEDDED_CARD, unfit], "own") == EMBEDDED


def test_characters_are_taught_without_any_model_and_a_link_keeps_within_limits(place: Path) -> None:
    page = asked("teach", data="sib-200-zh", start=CHARACTERS, minutes=9999, length=1, rate="0.0005", seed=7)
    says(page, "Four layers")
    says(page, "cut to 8 tokens")
    press(page, "Fine-tune")
    job = job_in(place)
    assert (job.data, job.model) == ("sib-200-zh", CHARACTERS)
    settings = job.settings
    assert settings.epochs == 30.0
    assert (settings.minutes, settings.length, settings.rate, settings.seed) == (240.0, 8, 5e-4, 7)


def test_names_of_a_file_are_text_and_its_columns_are_found_or_picked(place: Path) -> None:
    page = own()
    says(page, WANTED["classify"])
    assert "Fine-tune" not in [button.label for button in page.button]
    bring(page, "train", "<i>mine</i>.csv", HOSTILE)
    assert notes(page, "refusal") == []  # The first row is a header, although its column names are unknown.
    page.selectbox(key="teach_labels_in").set_value("which").run()  # The uploaded file is kept.
    assert notes(page, "refusal") == []
    assert cells(page, 0) == {"label": ["=cmd|0", "=cmd|1"] * 7, "text": cells(page, 0)["text"]}
    says(page, "“said”, labels")
    says(page, "in “which”.")
    says(page, "<i>mine<")  # Markup is shown as text.
    says(page, "seed 0. Rows: 32 train, 4 dev, 4 test. 2 classes;")
    press(page, "Fine-tune")
    job = job_in(place)
    assert (job.data, job.source, job.title) == ("", "<i>mine</i>.csv", "<i>mine</i>.csv · characters")
    labels = packed.read_rows(place / job.id / jobs.ROWS)
    assert isinstance(labels, LabeledDataset)
    assert (labels.labels, len(labels.train)) == (("=cmd|0", "=cmd|1"), 32)


def test_a_file_stays_while_the_reader_looks_elsewhere() -> None:
    page = bring(own(), "train", "titles.tsv", TITLES)
    assert cells(page, 1)["class"] == ["0", "1"]
    bring(page, "classes", "classes.txt", "股票\n体育\n".encode())
    assert cells(page, 1)["class"] == ["股票", "体育"]
    page.selectbox(key="teach_data").set_value("sib-200-zh").run()
    page.selectbox(key="teach_data").set_value("own").run()
    assert cells(page, 1)["class"] == ["股票", "体育"]


def test_a_bad_file_is_refused_in_a_sentence_and_a_better_one_is_read() -> None:
    page = bring(own(), "train", "a.csv", b"text,label\nonly one\n")
    assert notes(page, "refusal") == ["a.csv: Line 2 has 1 columns; line 1 has 2."]
    stands(page)
    bring(page, "train", "b.tsv", TITLES)
    assert notes(page, "refusal") == []
    bring(page, "test", "c.tsv", "新的\t7\n".encode())
    assert notes(page, "refusal")[0].startswith("c.tsv: line 1 ")


def test_words_with_tags_are_shown_with_their_names() -> None:
    page = bring(own(kind="tag"), "train", "names.conll", NAMES)
    assert cells(page, 0)["names in it"][0] == "PER: 安0 · LOC: 巴黎"
    assert cells(page, 1)["kind"] == ["PER", "LOC"]
    page = bring(own(kind="tag", texts_in="word"), "train", "names.conll", NAMES)
    assert "not a column number" in notes(page, "refusal")[0]


def test_what_goes_to_make_room_is_told_without_other_visitors_names(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(place, "done", title="Another visitor's", owner="another", saved=True)
    monkeypatch.setattr(job, "pushed_out", lambda looks, *_: tuple(looks))
    page = bring(own(), "train", "titles.tsv", TITLES)
    says(page, "1 training of")
    assert not any("Another visitor's" in note for note in notes(page))


def test_a_model_that_writes_is_not_taught() -> None:
    page = bring(asked("teach", data="own", start="headlight-en-fr"), "train", "titles.tsv", TITLES)
    assert "cannot be fine-tuned" in " ".join(notes(page, "refusal"))
    (button,) = (button for button in page.button if button.label == "Fine-tune")
    assert button.disabled


def test_an_encoding_is_guessed_and_can_be_picked() -> None:
    rows = "".join(f"Un café numéro {at}\t{at % 2}\n" for at in range(40))
    page = bring(own(), "train", "mac.tsv", rows.encode("mac_roman"))
    assert str(cells(page, 0)["text"][0]).startswith("Un café")
    assert any(guess_message("mac.tsv", "mac_roman") in note for note in notes(page))
    page.selectbox(key="teach_encoding_train").set_value("cp850").run()
    assert not str(cells(page, 0)["text"][0]).startswith("Un café")
    page.selectbox(key="teach_encoding_train").set_value("").run()
    assert str(cells(page, 0)["text"][0]).startswith("Un café")
    bring(page, "train", "titles.tsv", TITLES)
    assert "teach_encoding_train" not in {box.key for box in page.selectbox}


SQUAD = json.dumps(letters(40, no_answer=True)).encode()


def test_our_questions_are_requested_with_their_licence(place: Path) -> None:
    page = asked("teach", data=ready_sets.QUESTIONS.id, start=CHARACTERS, seed=3)
    assert ready_sets.LICENCES["CC-BY-SA-3.0"] in page.caption[0].value
    assert cells(page, 0)["question"][0] == ready_sets.load_questions(3).train[0].question
    press(page, "Fine-tune")
    job = job_in(place)
    assert (job.kind, job.data, job.settings.length, job.settings.seed) == ("answer", "questions-en", LENGTH, 3)


def test_own_questions_become_rows_of_the_job(place: Path) -> None:
    page = own(kind="answer", length=8)
    says(page, WANTED["answer"])
    bring(page, "train", "<i>mine</i>.json", SQUAD)
    assert notes(page, "refusal") == []
    says(page, "<i>mine<")
    assert "no answer" in cells(page, 0)["answer"]
    bring(page, "test", "test.json", SQUAD)
    press(page, "Fine-tune")
    job = job_in(place)
    assert (job.kind, job.data, job.settings.length) == ("answer", "", SHORTEST)
    rows = packed.read_rows(place / job.id / jobs.ROWS)
    assert isinstance(rows, QuestionSet)
    assert (len(rows.train) + len(rows.dev), len(rows.test), rows.no_answer) == (40, 40, True)


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[" * 100_000, b'{"data": [{}]}', b"\xff\xfe", SQUAD[:-9], b"text,label\n"]
)
def test_hostile_question_files_are_refused_in_a_sentence(content: bytes) -> None:
    page = bring(own(kind="answer"), "train", "<b>a.json", content)
    (refusal,) = notes(page, "refusal")
    assert refusal.startswith("<b>a.json: ")
    stands(page)
    bring(page, "train", "mine.json", SQUAD)
    assert notes(page, "refusal") == []
