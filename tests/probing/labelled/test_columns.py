"""CSV and TSV tables of labelled texts: column detection, reading, and error messages."""

from __future__ import annotations

import csv
import io
import random

import pytest

from inference.errors import UserError
from probing.labelled import columns
from probing.labelled.columns import Columns, class_list, parse
from probing.labelled.labeled_texts import LabeledText
from tests.support.cases import draw_seeds, loop_over

ANY = Columns()
READ = [
    LabeledText("They won, 3 to 1.", "sports"),
    LabeledText('He said "go".', "news"),
    LabeledText("It rained.", "news"),
]


def rows(text: str, wanted: Columns = ANY, *classes: str) -> list[LabeledText]:
    return parse(text, wanted, classes).rows


@loop_over("delimiter", [",", ";", "\t"])
@loop_over("header", [True, False])
@loop_over("turned", [True, False])
@draw_seeds(5)
def test_what_was_written_is_read(delimiter: str, header: bool, turned: bool, seed: int) -> None:
    """Round trip of texts that contain line ends and delimiters, in either column order."""
    dice = random.Random(seed)
    texts = ["It is " + "".join(dice.choices("ab,;\t\n'\"中😀 ", k=30)) + "." for _ in range(40)]
    wanted = [LabeledText(text, dice.choice(["x", "y z", "no,"])) for text in texts]
    stream = io.StringIO()
    writer = csv.writer(stream, delimiter=delimiter, lineterminator="\n")
    pairs = [(row.text, row.label) for row in wanted]
    writer.writerows(pair[:: -1 if turned else 1] for pair in [("text", "label")] * header + pairs)
    assert rows(stream.getvalue()) == wanted


@pytest.mark.parametrize(
    "text",
    [
        'label\ttext\nsports\tThey won, 3 to 1.\nnews\tHe said "go".\nnews\tIt rained.\n',
        '\nsports\tThey won, 3 to 1.\n\nnews\tHe said "go".\n \t \nnews\tIt rained.',
        'Text,id,Category\n"They won, 3 to 1.",1,sports\n"He said ""go"".",2,news\nIt rained.,3,news\n',
        '内容;标签\nThey won, 3 to 1.;sports\n He said "go". ;news\nIt rained.;news\n',
        'id\tlabel\tsentence\n1\tsports\tThey won, 3 to 1.\n2\tnews\t"He said ""go""."\n3\tnews\tIt rained.\n',
    ],
    ids=["tsv", "no header", "csv", "semicolons", "three columns"],
)
def test_columns_are_found(text: str) -> None:
    assert rows(text) == READ


def test_without_known_names_content_tells() -> None:
    text = "".join(f"{at}\tdev\tNumber {at} is {'odd' if at % 2 else 'even'}.\t{at % 3}\n" for at in range(30))
    read = parse(text, ANY)
    assert read.columns == Columns("3", "4")
    assert read.rows[4] == LabeledText("Number 4 is even.", "1")
    assert read.notes == ("Columns are separated by tabs; texts are in column 3, labels in 4.",)
    assert read.names == ("1", "2", "3", "4")
    assert rows(text, Columns(label="1"))[4].label == "4"
    assert rows("text,source,mood\nYes.,web,x\nNo.,web,y\n")[1] == LabeledText("No.", "y")


def test_of_two_columns_the_labels_vary_least_however_long_they_are() -> None:
    text = "Society and culture\tYes.\nNews and weather\tNo.\nSociety and culture\tGo!\n"
    assert rows(text)[2] == LabeledText("Go!", "Society and culture")


def test_a_first_row_whose_label_only_looks_like_a_name_is_a_row() -> None:
    assert len(rows("Good film.\ty\nBad film.\tn\nNo film.\ty\n")) == 3
    assert len(rows("utterance of a kind\ty\nBad film.\tn\nNo film.\tn\n")) == 2
    assert len(rows("text\ty\nBad film.\ty\nNo film.\tn\n")) == 2


def test_columns_are_taken_as_named() -> None:
    text = "title,body,kind,label\nT one,B one,a,1\nT two,B two,b,2\n"
    assert rows(text)[0] == LabeledText("T one", "1")
    assert rows(text, Columns("Body", "KIND"))[1] == LabeledText("B two", "b")
    assert rows(text, Columns("2", "3"))[1] == LabeledText("B two", "b")
    read = parse(text, Columns(text="body"))
    assert read.columns == Columns("body", "label")
    assert read.names == ("title", "body", "kind", "label")
    assert read.notes[0].endswith("texts are in column “body”, labels in “label”.")
    unknown = "utterance_1,x\nHow are you?,a\nGo.,b\n"
    assert rows(unknown, Columns("utterance_1", "x")) == [LabeledText("How are you?", "a"), LabeledText("Go.", "b")]


def test_numbers_stand_for_names_of_a_list() -> None:
    text = "他们赢了比赛\t1\n今天下雨\t0\n天晴\t0.0\n"
    assert [row.label for row in rows(text, ANY, "weather", "sports")] == ["sports", "weather", "weather"]
    assert [row.label for row in rows("They won.\tsports\nIt rained.\t0\n", ANY, "weather", "sports")] == [
        "sports",
        "weather",
    ]
    assert parse(text, ANY, ("weather", "sports")).first == {"sports": 1, "weather": 2}
    assert class_list(" finance \n\nsports\n") == ["finance", "sports"]


def test_quotation_marks_stay_where_tabs_part_the_columns() -> None:
    text = 'x\t"Go," he said, "now"\ny\tHe said "go\nx\t"Go"\n'
    assert [row.text for row in rows(text)] == ['"Go," he said, "now"', 'He said "go', '"Go"']


@loop_over(
    ("text", "said"),
    [
        ("", "The file is empty."),
        ("\n \n", "The file is empty."),
        ("one\ntwo\n", "The file has one column."),
        ("text,label\n", "The file has only a header."),
        ("text,label\na,x\n,y\n", "Line 3 has no text. Add it."),
        ("text\tlabel\na\tx\n\nb\t \n", "Line 4 has no label."),
        ("text\tlabel\na\tx\nb\n", "Line 3 has 1 columns; line 1 has 2."),
        ("text,label\na,x\nb,y,z\n", "Line 3 has 3 columns; line 1 has 2."),
        ('text,label\n"a,x\n', "Line 2 is not CSV"),
    ],
)
def test_what_is_wrong_is_said(text: str, said: str) -> None:
    with pytest.raises(UserError) as refused:
        rows(text)
    assert said in refused.value.message


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        (Columns(text="body"), "The file has no column “body”; its columns are text, label. Give another name"),
        (Columns(label="3"), "The file has no column “3”; its columns are text, label."),
        (Columns("1", "1"), "Name the columns."),
        (Columns("label", "label"), "Name the columns."),
    ],
)
def test_a_column_that_is_not_there_is_said(wanted: Columns, said: str) -> None:
    with pytest.raises(UserError) as refused:
        rows("text,label\na,x\n", wanted)
    assert said in refused.value.message


def test_a_column_by_name_needs_a_header() -> None:
    with pytest.raises(UserError, match=r"“body”.* 2 columns"):
        rows("a b,x\nc d,y\n", Columns(text="body"))


def test_labels_of_too_many_kinds_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns, "MOST_CLASSES", 3)
    text = "".join(f"text {at}\t{at}\n" for at in range(9))
    with pytest.raises(UserError, match=r"^Column 2 .* 3 labels.* 4 on"):
        rows(text)
    with pytest.raises(UserError, match=r"3 columns .* \(2 to 3"):
        rows("".join(f"text {at}\t{at}\tsame\n" for at in range(9)))


@loop_over("label", ["2", "-1", "1.5", "x", "٣", "9" * 9])
def test_a_number_beyond_the_list_is_said(label: str) -> None:
    with pytest.raises(UserError, match=f"Line 2 has the label “{label}”; expected 0 to 1, as there are"):
        rows(f"It rained.\t0\nThey won.\t{label}\n", ANY, "weather", "sports")


@pytest.mark.parametrize(
    ("text", "said"), [("", "0 lines"), ("a\n", "1 lines"), ("a\nb\na\n", "“a” twice"), ("a\n" * 9, "“a” twice")]
)
def test_a_list_that_is_none_is_said(text: str, said: str) -> None:
    with pytest.raises(UserError, match=f"The list of classes has {said}; expected 2 to 200 different names, one per"):
        class_list(text)


def test_json_lines_are_read() -> None:
    text = "".join(f'{{"text": "a, \\"b\\"\\n{at}", "label": {at % 2}}}\n' for at in range(80))
    read = parse(text, ANY)
    assert read.rows[:2] == [LabeledText('a, "b"\n0', "0"), LabeledText('a, "b"\n1', "1")]
    assert len(read.rows) == 80
    assert read.columns == Columns("text", "label")
    assert rows('{"mood": "x", "said": "Yes."}\n{"said": "No.", "mood": "y"}\n')[1] == LabeledText("No.", "y")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"text": "a", "label": 0}\n{"text": "b"\n', "Line 2 is not a JSON object"),
        ('{"text": "a", "label": 0}\n[1, 2]\n', "Line 2 is not a JSON object"),
        ('{"text": "a", "label": 0}\n{"text": "b"}\n', "Line 2 has no label"),
        ('[{"text": "a", "label": 0}]', "The file is one JSON value. Save it as JSON Lines"),
        ('{\n"text": ["a"]\n}', "The file is one JSON value"),
    ],
)
def test_json_that_does_not_fit_is_named(text: str, said: str) -> None:
    with pytest.raises(UserError, match=said):
        parse(text, ANY)


def test_names_in_no_list_are_a_header() -> None:
    """The format of Kaggle's SMS spam file."""
    text = "v1,v2,,,\n" + "".join(
        f'{"ham" if at % 3 else "spam"},"Go, number {at}",{"more" if at == 3 else ""},,\n' for at in range(9)
    )
    read = parse(text, ANY)
    assert read.columns == Columns("v2", "v1")
    assert read.rows[0] == LabeledText("Go, number 0", "spam")
    assert len(read.rows) == 9


ROWS = [(f"Hello, you number {at}", str(at % 2)) for at in range(8)]


def written(pattern: str, head: str = "") -> str:
    """Return all rows, each formatted with ``pattern``, after ``head``."""
    return head + "".join(pattern.format(text=text, label=label) for text, label in ROWS)


@pytest.mark.parametrize(
    "text",
    [
        written("{text};{label}\n"),
        written("{text}|{label}\n", "text|label\n"),
        written('"{text}"\t"{label}"\n', '"text"\t"label"\n'),
        written('"{text}",{label}\n', " Text , LABEL \n"),
        written('"{text}", {label}\n', "text, label\n"),
    ],
)
def test_usual_tables_keep_every_row(text: str) -> None:
    assert [(row.text, row.label) for row in parse(text, Columns()).rows] == ROWS


def test_tabs_in_quotes_are_text() -> None:
    text = "".join(f'"Hello\tnumber {at}"\t{at % 2}\n' for at in range(8))
    assert parse(text, Columns()).rows[1] == LabeledText("Hello\tnumber 1", "1")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("text,text,label\nA b,c d,1\ne f,g h,0\n", "2 columns are named “text”. Rename all but one"),
        ("text,label,Label\nA b,1,0\ne f,0,1\n", "2 columns are named “label”"),
        ("# mine\ntext,label\nA b,1\ne f,0\n", "Line 1 has one column; line 2 has 2. Remove line 1"),
        ('{"text": "A b", "label": 1}\n{"text": "c d", "label": NaN}\n', "Line 2 has no label"),
        ("text,label\n" + "x" * 1_000_001 + ",1\n", "Line 2 is not CSV: .* a cell is too long"),
    ],
)
def test_rows_that_would_be_misread_are_named(text: str, said: str) -> None:
    with pytest.raises(UserError, match=said):
        parse(text, Columns())


def test_columns_with_one_name_are_taken_by_number() -> None:
    found = parse("text,text,label\nA b,c d,1\ne f,g h,0\n", Columns("2", "label"))
    assert [row.text for row in found.rows] == ["c d", "g h"]
    assert found.columns == Columns("2", "label")


PLAIN = "text,label\n" + "".join(f"a cat {at},{'AB'[at % 2]}\n" for at in range(6))


@loop_over(
    "text",
    [
        PLAIN.replace("\n", ",\n").replace("label,", "label"),  # a trailing separator in every row but the header
        PLAIN.replace("\n", ",,\n"),
        PLAIN.replace("A\n", "A,\n"),
        PLAIN + ",\n,\n",
        PLAIN.replace(",", ";"),
        PLAIN.replace(",", ";").replace("\n", ";\n"),
        PLAIN.replace(",", "\t").replace("A\n", "A\t\n"),
        "id;" + PLAIN.replace(",", ";").replace("a cat", "7;a cat"),
    ],
)
def test_separators_and_empty_cells_at_the_end_change_nothing(text: str) -> None:
    assert rows(text) == rows(PLAIN)


@pytest.mark.parametrize(("row", "line"), [("a cat,A,x\n", 8), ("a cat\n", 8), ("a cat,A,,x\n", 8)])
def test_rows_of_another_width_are_named(row: str, line: int) -> None:
    with pytest.raises(UserError, match=f"Line {line} "):
        rows(PLAIN + row)
