"""The reader's own files: splits, checks across files, and refusals of malformed files."""

from __future__ import annotations

import random
import subprocess
import sys
import tracemalloc
from collections.abc import Callable

import pytest

from inference.errors import UserError
from probing.labelled.columns import Columns
from probing.labelled.conll import WordColumns
from probing.labelled.files import File
from probing.labelled.labeled_texts import LabeledText
from probing.labelled.loading import ReadResult, TaskFiles, read_labeled, read_tagged
from tests.support.cases import draw_seeds, loop_over
from tests.support.repository import ROOT

MADE = "was split here with seed"


def table(name: str, *labels: str, start: int = 0) -> File:
    """Return a TSV file of 60 rows that cycles through ``labels``."""
    rows = (f"text number {start + at}\t{labels[at % len(labels)]}\n" for at in range(60))
    return File(name, "".join(rows).encode())


def conll(name: str, kind: str = "PER", start: int = 0) -> File:
    """Return a CoNLL file of 60 sentences with a single span each."""
    return File(name, "".join(f"Ann B-{kind}\nsaw O\n{start + at} O\n\n" for at in range(60)).encode())


def sizes(read: ReadResult) -> tuple[int, int, int]:
    return len(read.labels.train), len(read.labels.dev), len(read.labels.test)


def test_files_that_are_given_stay_as_they_are_and_others_are_divided_from_train() -> None:
    train, dev, test = (table(f"{name}.tsv", "a", "b", start=at) for name, at in (("1", 0), ("2", 100), ("3", 200)))
    assert sizes(read_labeled(TaskFiles(train))) == (48, 6, 6)
    assert sizes(read_labeled(TaskFiles(train, dev=dev))) == (54, 60, 6)
    assert sizes(read_labeled(TaskFiles(train, test=test))) == (54, 6, 60)
    whole = read_labeled(TaskFiles(train, dev, test))
    assert sizes(whole) == (60, 60, 60)
    assert not any(MADE in sentence for sentence in whole.notes)
    assert whole.labels.dev[0].text == "text number 100"
    divided = read_labeled(TaskFiles(train), seed=3)
    assert divided.notes[-1] == "1.tsv was split here with seed 3. Rows: 48 train, 6 dev, 6 test."
    assert divided == read_labeled(TaskFiles(train), seed=3)
    assert divided.labels != read_labeled(TaskFiles(train), seed=4).labels


def test_sentences_are_divided_too() -> None:
    read = read_tagged(TaskFiles(conll("a.conll"), test=conll("b.conll", start=100)))
    assert sizes(read) == (54, 6, 60)
    assert read.labels.kind == "tag"
    assert read.columns == ("1", "2")
    assert read.labels.labels == ("O", "B-PER", "I-PER")


def test_permuting_rows_permutes_the_parts() -> None:
    content = table("a.tsv", "a", "b", "c").content
    mixed = random.Random(0).sample(content.splitlines(keepends=True), 60)
    one, other = (
        read_labeled(TaskFiles(File("a.tsv", content))),
        read_labeled(TaskFiles(File("a.tsv", b"".join(mixed)))),
    )
    for part in ("train", "dev", "test"):
        assert set(getattr(one.labels, part)) == set(getattr(other.labels, part))
    assert one.labels.labels == other.labels.labels == ("a", "b", "c")


def test_labels_are_in_the_order_of_their_numbers_or_of_their_list() -> None:
    ten = [str(at) for at in range(11)]
    assert read_labeled(TaskFiles(table("a.tsv", *ten))).labels.labels == tuple(ten)
    names = File("class.txt", "\n".join(f"{chr(122 - at)}-news" for at in range(12)).encode())
    read = read_labeled(TaskFiles(table("a.tsv", *ten)), classes=names)
    assert read.labels.labels == tuple(f"{chr(122 - at)}-news" for at in range(11))


def test_further_files_are_read_by_the_columns_of_train() -> None:
    train = File("a.csv", "".join(["text,label,x\n", *(f"t{at},{at % 2},{at % 2}\n" for at in range(20))]).encode())
    dev = File("b.csv", b"x,label,text\n1,0,a\n1,1,b\n")
    read = read_labeled(TaskFiles(train, dev=dev), Columns(label="x"))
    assert list(read.labels.dev) == [LabeledText("a", "1"), LabeledText("b", "1")]
    with pytest.raises(UserError, match=r"b\.csv: .* 2 columns"):
        read_labeled(TaskFiles(train, dev=File("b.csv", b"a b,0\nc d,1\n")))
    with pytest.raises(UserError, match="conll: Line 1"):
        read_tagged(TaskFiles(conll("a.conll"), dev=File("b.conll", b"Ann\n")))


def test_controls_that_are_left_out_are_told() -> None:
    file = table("a.tsv", "a", "b")
    read = read_labeled(TaskFiles(File("a.tsv", file.content.replace(b"number 7\t", b"num\x08ber 7\t"))))
    assert read.notes[1] == "a.tsv: 1 control characters were left out."
    assert read.labels == read_labeled(TaskFiles(file)).labels


@loop_over(
    ("files", "said"),
    [
        (TaskFiles(table("a.tsv", "x")), "a.tsv: All 60 rows have the label “x”."),
        (
            TaskFiles(File("a.tsv", table("a.tsv", "x", "y").content + b"one more\tz\n")),
            "a.tsv: Only line 61 has the label “z”; expected two rows or more.",
        ),
        (
            TaskFiles(table("a.tsv", "x", "y"), test=table("b.tsv", "x", "z")),
            "b.tsv: line 2 has the label “z”, which a.tsv lacks.",
        ),
        (
            TaskFiles(File("a.tsv", b"t 1\tx\nt 2\tx\nt 3\ty\nt 4\ty\n")),
            "a.tsv: 4 different rows are too few for dev. Add rows, or give dev as a file.",
        ),
        (TaskFiles(table("a.tsv", "x", "y"), dev=File("b.tsv", b"")), "b.tsv: The file is empty."),
        (TaskFiles(File("a.tsv", b"\xff")), "a.tsv: Line 1 is not UTF-8 text."),
    ],
)
def test_what_is_wrong_is_said_with_the_file(files: TaskFiles, said: str) -> None:
    with pytest.raises(UserError) as refused:
        read_labeled(files)
    assert said in refused.value.message


@pytest.mark.parametrize(
    ("files", "said"),
    [
        (TaskFiles(File("a.conll", b"Ann O\nsings O\n")), "a.conll: every tag is O."),
        (
            TaskFiles(conll("a.conll"), dev=conll("b.conll", "LOC")),
            "b.conll: line 1 has the label “LOC”, which a.conll lacks",
        ),
        (TaskFiles(File("a.conll", b"Ann B-PER\n\nBob B-PER\n")), "a.conll: 2 different rows are too"),
    ],
)
def test_what_is_wrong_with_sentences_is_said_with_the_file(files: TaskFiles, said: str) -> None:
    with pytest.raises(UserError) as refused:
        read_tagged(files)
    assert said in refused.value.message


def test_a_list_of_classes_is_named_too() -> None:
    with pytest.raises(UserError, match=r"class\.txt: .* 0 lines"):
        read_labeled(TaskFiles(table("a.tsv", "0", "1")), classes=File("class.txt", b""))


@pytest.mark.slow
def test_the_room_waits_for_no_model() -> None:
    """Importing the modules for data does not import torch, transformers or scikit-learn."""
    room = "probing.labelled.loading, probing.labelled.ready_sets, "
    room += "probing.labelled.data_checks, probing.labelled.evaluation"
    probe = f"import sys, {room}; print(*{{'torch', 'transformers', 'sklearn'}} & set(sys.modules))"
    answer = subprocess.run([sys.executable, "-c", probe], cwd=ROOT, check=True, capture_output=True, text=True)
    assert answer.stdout.strip() == ""


PIECES = ["\t", ",", ";", "\n", "\r", '"', " ", "标签", "text", "label", "B-", "I-", "O", "#", "# text = ",
          "-DOCSTART-", "\x1f", "\ufeff", "9" * 30]  # fmt: skip
BROKEN = [b"\0", b"\xff", b"\xe4\xb8"]


def mutated(text: str, dice: random.Random) -> bytes:
    """Return ``text`` with random edits; a random eighth of the results is not valid text."""
    for _ in range(dice.randint(1, 4)):
        start = dice.randrange(len(text) + 1)
        end = min(len(text), start + dice.choice([0, 0, 1, 5, 100]))
        text = text[:start] + dice.choice([*PIECES, text[start:end] * 2, ""]) + text[end:]
    content = text.encode()
    start = dice.randrange(len(content) + 1)
    return content if dice.random() < 7 / 8 else content[:start] + dice.choice(BROKEN) + content[start:]


@pytest.mark.slow
@draw_seeds(10)
@loop_over("read", [read_labeled, read_tagged])
def test_only_refusals_come_of_hostile_files(read: Callable[..., ReadResult], seed: int) -> None:
    """Each of 3,000 mutated files is read or refused with a message that names the file."""
    dice = random.Random(seed)
    forms = {
        read_labeled: ['"a, ""{at}""",{label}\n', "新闻{at}标题\t{label}\n", "{at};a b {at};{label}\n"],
        read_tagged: ["# text = x {at}\n1\tx\tB-{label}\t-\n2\t{at}\tO\t-\n\n", "中 S-{label}\n文 O\n{at} O\n\n"],
    }[read]
    good = ["".join(form.format(at=at, label="xyz"[at % 3]) for at in range(30)) for form in forms]
    choices = (Columns("1", "2"), Columns()) if read is read_labeled else (WordColumns(word=1), WordColumns())
    said = []
    for _ in range(150):
        file = File("some file", mutated(dice.choice(good), dice))
        try:
            labels = read(TaskFiles(file), dice.choice(choices)).labels
        except UserError as refusal:
            said.append(refusal.message)
        else:
            assert labels.train
            assert labels.dev
            assert labels.test
    assert 0 < len(said) < 150
    assert [message for message in said if not (message.startswith("some file: ") and message.endswith("."))] == []


@pytest.mark.slow
@pytest.mark.parametrize("read", [read_labeled, read_tagged])
def test_many_rows_stay_within_bounds(read: Callable[..., ReadResult]) -> None:
    """Peak memory is at most eight times the file size."""
    dice = random.Random(0)
    words = [f"word{at}" for at in range(5_000)]
    if read is read_labeled:
        rows = (f"{' '.join(dice.choices(words, k=10))}\t{at % 10}\n" for at in range(5_000))
    else:
        rows = ("".join(f"{word}\tB-X\n" for word in dice.choices(words, k=10)) + "\n" for _ in range(5_000))
    file = File("large", "".join(rows).encode())
    tracemalloc.start()
    try:
        labels = read(TaskFiles(file)).labels
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(labels.train) + len(labels.dev) + len(labels.test) == 5_000
    assert peak < 8 * len(file.content)


def test_labels_of_one_number_are_named() -> None:
    rows = "".join(f"Text {at},{('1', '1.0', '01', '2')[at % 4]}\n" for at in range(40))
    told = read_labeled(TaskFiles(File("a.csv", f"text,label\n{rows}".encode()))).notes
    assert "The labels “01”, “1”, “1.0” are the same number, but count as 3 classes." in told
