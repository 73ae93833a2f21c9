"""CoNLL columns: detection of words and tags, joined sentences, and error messages."""

from __future__ import annotations

import random

import pytest

from inference.errors import UserError
from probing.labelled import conll
from probing.labelled.conll import WordColumns, parse, to_bio
from probing.labelled.files import File
from probing.labelled.labeled_texts import TaggedText, join_words
from tests.support.cases import draw_seeds, loop_over

ANY = WordColumns()
TWO = "Ann\tB-PER\nLee\tI-PER\nsings\tO\n\nIn\tO\nRome\tB-LOC\n"
READ = [
    TaggedText("Ann Lee sings", ((0, 3), (4, 7), (8, 13)), ("B-PER", "I-PER", "O")),
    TaggedText("In Rome", ((0, 2), (3, 7)), ("O", "B-LOC")),
]
IOB2 = """\
# newdoc id = 1
# sent_id = 1-1
# text = 安 · Lee在Rome唱歌。
1\t安\tB-PER\t-\tann
2\t·\tI-PER\t-\tann
3\tLee\tI-PER\t-\tann
4\t在\tO\t-\t-
5\tRome\tB-LOC\t-\tann
6\t唱歌\tO\t-\t-
7\t。\tO\t-\t-

# sent_id = 1-2
1\t它们\tO\t-\t-
2\t停\tO\t-\t-
3\t了\tO\t-\t-
"""


def written(rows: list[TaggedText]) -> str:
    """Return the sentences in CoNLL format with two columns."""
    sentences = (
        "".join(f"{row.text[start:end]}\t{tag}\n" for (start, end), tag in zip(row.words, row.tags, strict=True))
        for row in rows
    )
    return "\n".join(sentences)


@draw_seeds(30)
@loop_over("letters", ["abc#", "中文字"])
def test_what_was_written_is_read(letters: str, seed: int) -> None:
    dice = random.Random(seed)
    rows = []
    for _ in range(dice.randint(1, 9)):
        words = ["".join(dice.choices(letters, k=dice.randint(1, 3))) for _ in range(dice.randint(1, 6))]
        text, places = join_words(words, letters == "abc#")
        rows.append(
            TaggedText(text, tuple(places), tuple(to_bio(dice.choices(["O", "B-A", "I-A", "I-B"], k=len(words)))))
        )
    assert parse(written(rows), ANY).rows == rows


@loop_over(
    "text",
    [
        TWO,
        TWO.replace("\t", " "),
        "\n\n-DOCSTART-\tO\n\n" + TWO.replace("\n\n", "\n\t\n\n"),
        TWO.replace("B-", "I-"),
        "Ann NNP I-NP B-PER\nLee NNP I-NP E-PER\nsings VB O O\n\nIn IN O O\nRome NNP B-NP S-LOC\n",
        "1\tAnn\tB-PER\t-\n2\tLee\tI-PER\t-\n3\tsings\tO\t-\n\n1\tIn\tO\t-\n2\tRome\tB-LOC\tx\n",
        "B-PER Ann\nI-PER Lee\nO sings\n\nO In\nB-LOC Rome\n",
    ],
    ids=["tabs", "spaces", "blank lines", "IOB1", "BIOES in the fourth column", "numbered", "tags first"],
)
def test_columns_and_schemes_are_found(text: str) -> None:
    assert parse(text, ANY).rows == READ


def test_columns_are_taken_as_named() -> None:
    text = "Ann ANN I-NP B-PER\nsings SING O O\n"
    read = parse(text, WordColumns(word=2, tag=3))
    assert read.rows == [TaggedText("ANN SING", ((0, 3), (4, 8)), ("B-NP", "O"))]
    assert read.notes[0] == "Words are in column 2, tags in 3."
    assert parse("它们 O\n停 O\n", WordColumns(apart=True)).rows[0].text == "它们 停"


def test_chinese_reads_as_its_comment_has_it_or_without_spaces() -> None:
    first, second = parse(IOB2, ANY).rows
    assert first.text == "安 · Lee在Rome唱歌。"
    assert [first.text[start:end] for start, end in first.words] == ["安", "·", "Lee", "在", "Rome", "唱歌", "。"]
    assert first.tags == ("B-PER", "I-PER", "I-PER", "O", "B-LOC", "O", "O")
    assert second == TaggedText("它们停了", ((0, 2), (2, 3), (3, 4)), ("O", "O", "O"))
    without = parse(IOB2.replace("# text", "# texts"), ANY)
    assert without.rows[0].text == "安·Lee在Rome唱歌。"
    assert "Words are joined" in without.notes[1]


def test_a_comment_that_is_another_text_is_not_believed() -> None:
    assert parse(f"# text = Bob sings\n{TWO}", ANY).rows == READ


def test_words_may_begin_with_the_mark_of_a_comment() -> None:
    assert parse("#tag\tO\n#\tO\nAnn\tB-PER\n", ANY).rows[0].text == "#tag # Ann"
    assert parse("# id = 3\n#tag O\n# O\nAnn B-PER\n", ANY).rows[0].text == "#tag # Ann"


def test_the_line_that_a_kind_came_first_on_is_known() -> None:
    assert parse(f"In\tO\nJune\tO\n\n{TWO}{TWO}", ANY).first == {"PER": 4, "LOC": 9}


def test_what_was_done_is_told() -> None:
    assert parse(TWO, ANY).notes == ("Words are in column 1, tags in 2.",)
    assert parse(TWO.replace("B-P", "I-P"), ANY).notes[1] == "1 of 2 spans began with I-, which became B-."
    assert parse(TWO.replace("B-L", "S-L"), ANY).notes[1] == "The tags were turned from BIOES into BIO."
    assert parse(IOB2, ANY).notes[1] == "1 sentences are read from the file's comments."


@loop_over(
    ("text", "said"),
    [
        ("", "The file has no words."),
        ("# sent_id = 1\n\n", "The file has no words."),
        ("Ann\nsings\n", "Line 1 has one column; expected a word and a tag"),
        ("Ann\tB-PER\nsings\n", "Line 2 has 1 columns; the first has 2."),
        ("Ann\tB-PER\n\nsings\tX\tO\n", "Line 3 has 3 columns; the first has 2."),
        ("Ann\tB-PER\nsings\tVERB\n", "Line 2 has the tag “VERB”"),
        ("Ann\tB-PER\n\t\t\n \tO\n", "Line 3 has no word in column 1."),
        ("Ann\tPER\nsings\tNONE\n", "Line 1 has the tag “PER”"),
    ],
)
def test_what_is_wrong_is_said(text: str, said: str) -> None:
    with pytest.raises(UserError) as refused:
        parse(text, ANY)
    assert said in refused.value.message


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        (WordColumns(tag=3), "There is no column 3; the file has 2. Name another."),
        (WordColumns(word=0), "There is no column 0; the file has 2."),
        (WordColumns(word=2, tag=2), "Column 2 cannot hold both words and tags. Name two columns."),
        (WordColumns(word=2), "Line 1 has the tag “Ann”"),
    ],
)
def test_columns_that_cannot_be_are_said(wanted: WordColumns, said: str) -> None:
    with pytest.raises(UserError) as refused:
        parse(TWO, wanted)
    assert said in refused.value.message


def test_limits_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conll, "MOST_WORDS", 3)
    monkeypatch.setattr(conll, "MOST_KINDS", 1)
    with pytest.raises(UserError, match=r"line 2 .* 3 words"):
        parse("\n" + "a\tO\n" * 4, ANY)
    with pytest.raises(UserError, match=r"over 1 .* line 5"):
        parse(TWO, ANY)


def test_outer_spans_of_germeval_are_read() -> None:
    lines = "".join(f"1\tAnn\tB-PER\tO\n2\tsings\tO\tO\n3\t{at}\tB-ORG\tO\n\n" for at in range(3))
    assert parse(lines, WordColumns()).columns == WordColumns(2, 3, True)
    nested = lines + "1\tBonn\tB-ORG\tB-LOC\n2\tUni\tI-ORG\tO\n3\tEva\tB-PER\tB-PER\n"
    assert parse(nested, WordColumns()).columns.tag == 3


def test_last_column_is_read_beside_chunks() -> None:
    lines = "EU NNP B-NP B-ORG\nrejects VBZ B-VP O\ncalls NNS B-NP O\n"
    assert parse(lines, WordColumns()).columns.tag == 4


NER = 'Sentence 1,Ann,NNP,B-per\n,sings,VBZ,O\nSentence 2,"Rome, Italy",NNP,B-geo\n'


@pytest.mark.parametrize("name", ["#", "Sentence #"])
def test_a_table_of_words_with_names_of_sentences_is_read(name: str) -> None:
    read = parse(f"{name},Word,POS,Tag\n{NER}", WordColumns())
    assert [(row.text, row.tags) for row in read.rows] == [
        ("Ann sings", ("B-per", "O")),
        ("Rome, Italy", ("B-geo",)),
    ]
    assert (read.columns.word, read.columns.tag) == (2, 4)
    assert read.first == {"per": 2, "geo": 4}


@pytest.mark.parametrize("numbers", ["1,1,2,2", "1,2,1,2", "a,a,b,b", "7,,8,"])
def test_sentences_of_a_table_are_told_apart(numbers: str) -> None:
    words = zip(numbers.split(","), ["Ann,B-per", "sings,O", "Bob,B-per", "reads,O"], strict=True)
    text = "#,Word,Tag\n" + "".join(f"{number},{word}\n" for number, word in words)
    assert [row.text for row in parse(text, WordColumns()).rows] == ["Ann sings", "Bob reads"]


def test_json_lines_of_words_and_tags_are_read() -> None:
    text = '{"tokens": ["Ann", "sings"], "ner_tags": ["B-PER", "O"]}\n\n{"id": 1, "tags": ["O"], "words": ["Go"]}\n'
    assert [(row.text, row.tags) for row in parse(text, WordColumns()).rows] == [
        ("Ann sings", ("B-PER", "O")),
        ("Go", ("O",)),
    ]
    for wrong, said in (
        ('{"tokens": ["Ann"], "tags": []}', "Line 1: 1 words but 0 tags."),
        ('{"tokens": ["Ann"], "tags": [1]}', "Line 1 has numbers as tags"),
        ('{"text": "Ann"}', "Line 1 needs two lists, such as"),
    ):
        with pytest.raises(UserError, match=said):
            parse(wrong, WordColumns())


def test_comments_of_germeval_are_no_words() -> None:
    text = "#\thttp://a.org\t[2009-10-17]\n1\tAnn\tB-PER\tO\n2\tsings\tO\tO\n\n"
    text += "#\tn-tv.de vom 26.02.2005\t[2005-02-26]\n1\tGo\tO\tO\n"
    assert [row.text for row in parse(text, WordColumns()).rows] == ["Ann sings", "Go"]
    assert parse("#\tO\nAnn\tB-PER\n", WordColumns()).rows[0].text == "# Ann"


@loop_over("word", ["\x96", "\x85", "\x1c", "\u2028", "\xa0", "\u3000"])
@loop_over("mark", ["\t", " "])
def test_an_invisible_word_keeps_its_column(word: str, mark: str) -> None:
    content = f"Ann{mark}B-PER\n{word}{mark}O\nRome{mark}B-LOC\n\n".encode()
    text, controls, _ = File("a.conll", content).read(words=True)
    assert controls == 0
    (row,) = parse(text, WordColumns()).rows
    assert row.tags == ("B-PER", "O", "B-LOC")
    assert [row.text[start:end] for start, end in row.words] == ["Ann", word, "Rome"]


@loop_over("mark", [",", ";", "|", "\t"])
@loop_over("word", ["\x96", "\x85", "\x1c", ",", "||"])
@loop_over("quote", ['"', ""])
def test_a_word_of_a_table_keeps_its_column(mark: str, word: str, quote: str) -> None:
    if not quote and mark in word:
        return
    head = mark.join(f"{quote}{name}{quote}" for name in ("Sentence #", "Word", "Tag"))
    rows = "".join(
        f"{quote}{first}{quote}{mark}{quote}{shown}{quote}{mark}{quote}{tag}{quote}\n"
        for first, shown, tag in (("1", "Ann", "B-PER"), ("", word, "O"), ("", "London", "B-LOC")) * 2
    )
    text = File("a.csv", f"{head}\n{rows}".encode()).read(words=True)[0]
    (row,) = parse(text, WordColumns()).rows
    assert row.text == f"Ann {word} London Ann {word} London"
    assert row.tags == ("B-PER", "O", "B-LOC") * 2


def test_excels_separator_line_leaves_sentences_whole() -> None:
    content = b"sep=;\n#;word;tag\n1;Ann;B-PER\n2;sings;O\n1;Bob;B-PER\n2;runs;O\n"
    text = File("a.csv", content).read(words=True)[0]
    assert [row.text for row in parse(text, WordColumns()).rows] == ["Ann sings", "Bob runs"]


def test_a_dash_of_windows_is_a_word() -> None:
    rows = "".join('"1","Ann","B-PER"\n"","\x96","O"\n"","London","B-LOC"\n' for _ in range(40))
    content = f'"Sentence #","Word","Tag"\n{rows}'.encode("latin-1")
    text, _, guessed = File("a.csv", content).read(words=True)
    assert guessed == "cp1252"
    assert parse(text, WordColumns()).rows[0].text.startswith("Ann – London")


def test_two_columns_of_words_are_refused() -> None:
    with pytest.raises(UserError) as refused:
        parse("Word,Word,Tag\nAnn,Bob,B-PER\n", WordColumns())
    assert "“word”" in refused.value.message
