"""Files of annotated sentences: parsing, and errors that name the line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from attention.annotations import Link
from inference.errors import UserError
from probing import formats
from probing.corpus import AnnotatedCorpus
from tests.support.cases import loop_over

TREE = """\
# sent_id = 1
# text = Don't feed Ann's dogs!
1-2\tDon't\t_\t_\t_\t_\t_\t_\t_\t_
1\tDo\tdo\tAUX\tVBP\t_\t3\taux\t3:aux\t_
2\tn't\tnot\tPART\tRB\t_\t3\tadvmod:neg\t3:advmod\t_
3\tfeed\tfeed\tVERB\tVB\t_\t0\troot\t0:root\t_
3.1\tyou\tyou\tPRON\tPRP\t_\t_\t_\t3:nsubj\t_
4\tAnn\tAnn\tPROPN\tNNP\t_\t6\tnmod:poss\t6:nmod:poss\t_
5\t's\t's\tPART\tPOS\t_\t4\tcase\t4:case\t_
6\tdogs\tdog\tNOUN\tNNS\t_\t3\tobj\t3:obj\t_

# text = Go
1\tGo\tgo\tVERB\tVB\t_\t0\troot\t0:root\t_

1\tOh\toh\tINTJ\tUH\t_\t2\tdiscourse\t_\t_
2\tmy\tmy\tPRON\tPRP\t_\t0\troot\t_\t_
"""
GAP = """\
ID\tText\tPronoun\tPronoun-offset\tA\tA-offset\tA-coref\tB\tB-offset\tB-coref\tURL
1\tAnn saw Eve when she left.\tshe\t17\tAnn\t0\tTRUE\tEve\t8\tFALSE\thttp://x
2\tAnn saw Eve when it rained.\tit\t17\tAnn\t0\tFALSE\tEve\t8\tFALSE\thttp://x
3\tEve saw Ann when she left.\tshe\t17\tEve\t0\tFALSE\tAnn\t8\tTRUE\thttp://x
"""
TABLE = """\
text,source,target,distractor
"The cup fell on the table, and it broke.",it,cup,table
"The dog saw the cat, so it barked at
the cat.",it,dog,cat#2
"""


def read(text: str, format: str) -> AnnotatedCorpus:
    return formats.parse(text.encode(), format)


def test_words_of_a_tree_are_read_joined_by_spaces() -> None:
    corpus = read(TREE, "conllu")
    first, second = corpus.items  # A sentence of a single word has no link and is left out.
    assert first.text == "Do n't feed Ann 's dogs"
    assert [first.text[slice(*unit)] for unit in first.units] == ["Do", "n't", "feed", "Ann", "'s", "dogs"]
    assert first.links == (
        Link("aux", 0, 2), Link("advmod", 1, 2), Link("nmod:poss", 3, 5), Link("case", 4, 3), Link("obj", 5, 2)
    )  # fmt: skip
    assert (first.line, second.line) == (4, 15)
    assert second.links == (Link("discourse", 0, 1),)
    assert corpus.together
    assert corpus.links == 6


@pytest.mark.parametrize("text", [TREE.replace("\n", "\r\n"), "\ufeff" + TREE, TREE.rstrip("\n")])
def test_line_ends_and_byte_order_marks_change_nothing(text: Any) -> None:
    assert read(text, "conllu").items == read(TREE, "conllu").items


@loop_over(
    ("old", "new", "said"),
    [
        ("3\tfeed\tfeed", "3 feed feed", "Line 6 has 8 columns; CoNLL-U has 10, separated by tabs."),
        ("6\tdogs", "7\tdogs", 'Line 10 numbers its word "7"; expected 6.'),
        ("_\t3\taux\t", "_\t_\taux\t", "Line 4 lacks a word, its head"),
        ("_\t3\taux\t", "_\t3\t_\t", "Line 4 lacks a word, its head"),
        ("_\t3\taux\t", "_\t9\taux\t", "Line 4 has the head 9; the sentence has 6 words."),
        ("_\t3\taux\t", "_\t1\taux\t", "Line 4: word 1 is its own head"),
        ("_\t3\taux\t", "_\t٣\taux\t", "Line 4 lacks a word"),
    ],
)
def test_a_line_that_is_no_conllu_is_named(old: str, new: str, said: str) -> None:
    with pytest.raises(UserError, match=said):
        read(TREE.replace(old, new, 1), "conllu")


def test_rows_of_gap_ask_where_exactly_one_name_is_meant() -> None:
    corpus = read(GAP, "gap")
    assert corpus.left_out == 1
    assert [item.links for item in corpus.items] == [(Link("coref", 0, 1, (2,)),), (Link("coref", 0, 2, (1,)),)]
    assert corpus.items[0].units == ((17, 20), (0, 3), (8, 11))
    assert [item.line for item in corpus.items] == [2, 4]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("\tB-coref", "\tC", 'Line 1 lacks the column "B-coref"'),
        ("Eve\t8\tFALSE\thttp://x\n2", "Eve\t8\tFALSE\n2", "Line 2 has 10 columns; line 1 has 11."),
        ("Ann\t0\tTRUE", "Ann\t0\tYES", 'Line 2 has "YES" under A-coref; expected TRUE or FALSE.'),
        ("Ann\t0\tTRUE", "Ann\t1\tTRUE", "Line 2: “Ann” is not at character 1 of its text."),
        ("Ann\t0\tTRUE", "Ann\t-9\tTRUE", "Line 2: “Ann"),
    ],
)
def test_a_line_that_is_no_gap_is_named(old: str, new: str, said: str) -> None:
    with pytest.raises(UserError, match=said):
        read(GAP.replace(old, new, 1), "gap")


def test_phrases_of_a_table_are_found_in_their_text() -> None:
    first, second = read(TABLE, "csv").items
    assert first.links == second.links == (Link("link", 0, 1, (2,)),)
    assert [first.text[slice(*unit)] for unit in first.units] == ["it", "cup", "table"]
    assert second.units[2] == (41, 44)
    assert (first.line, second.line) == (2, 3)


def test_a_table_may_name_relations_use_semicolons_and_a_script_without_spaces() -> None:
    rows = "Text;source;Target;distractor;relation\n那只动物没有过街因为它累了;它;动物;街;pronoun\n"
    (item,) = read(rows, "csv").items
    assert item.links[0].relation == "pronoun"
    assert item.units == ((10, 11), (2, 4), (7, 8))


@loop_over(
    ("old", "new", "said"),
    [
        ("distractor", "other", 'Line 1 lacks the column "distractor"'),
        ("it,cup,table", "it,cup", "Line 2 has 3 columns; line 1 has 4."),
        ("it,cup,table", "it,mug,table", 'Line 2: the target "mug" is not in its text.'),
        ("it,cup,table", "it,cup,", "Line 2 has no distractor."),
        ("it,cup,table", "it,cup,cup", "Line 2 repeats a word"),
        ("cat#2", "cat", 'Line 3: the distractor "cat" occurs 2 times. Write "cat#2" for the second.'),
        ("cat#2", "cat#3", 'Line 3: the distractor "cat#3" is not in its text.'),
        ('broke.",it', 'broke."x,it', "Line 2 is not CSV"),
    ],
)
def test_a_row_that_does_not_fit_is_named(old: str, new: str, said: str) -> None:
    with pytest.raises(UserError, match=said):
        read(TABLE.replace(old, new, 1), "csv")


@pytest.mark.parametrize(
    ("text", "format", "said"),
    [
        ("", "conllu", "nothing to score: no word depends on another"),
        ("1\tGo\t_\t_\t_\t_\t0\troot\t_\t_\n", "conllu", "nothing to score"),
        (GAP.replace("TRUE", "FALSE"), "gap", "nothing to score: no row has exactly one of A and B TRUE"),
        ("text,source,target,distractor\n", "csv", "nothing to score: it has only a header"),
        (TREE, "xml", "“xml” is not one of"),
    ],
)
def test_files_without_anything_to_score_say_so(text: Any, format: str, said: str) -> None:
    with pytest.raises(UserError, match=said):
        read(text, format)


def test_a_file_that_is_not_text_is_named_by_its_line() -> None:
    with pytest.raises(UserError, match=r"Line 3 .*UTF-8"):
        formats.parse(b"# one\n# two\n\xff\n", "conllu")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"tsv .*such"):
        formats.load(tmp_path / "none.tsv", "gap")


def test_the_digest_is_of_format_and_content() -> None:
    assert read(TREE, "conllu").digest == read(TREE, "conllu").digest != read(TREE + "\n", "conllu").digest


def heads(*numbers: int) -> str:
    """Return a CoNLL-U sentence whose words have these heads."""
    return "".join(f"{at}\tw{at}\t_\t_\t_\t_\t{head}\tdep\t_\t_\n" for at, head in enumerate(numbers, start=1))


def test_a_word_that_is_its_own_head_is_named() -> None:
    with pytest.raises(UserError, match=r"Line 3: word 2 .* 0\."):
        read("# text\n" + heads(0, 2, 1), "conllu")


@pytest.mark.parametrize(
    ("numbers", "line", "cycle"),
    [((0, 3, 2), 2, "2 → 3 → 2"), ((2, 3, 1), 1, "1 → 2 → 3 → 1"), ((0, 1, 5, 3, 4), 3, "3 → 5 → 4 → 3")],
)
def test_a_cycle_of_heads_is_refused(numbers: tuple[int, ...], line: int, cycle: str) -> None:
    with pytest.raises(UserError, match=f"Line {line}: the dependencies form a cycle \\({cycle}\\)"):
        read(heads(*numbers), "conllu")


def test_an_empty_node_may_come_first() -> None:
    node = "0.1\tyou\tyou\tPRON\tPRP\t_\t_\t_\t_\t_\n"
    found = read(TREE.replace("1-2\tDon't", f"{node}1-2\tDon't"), "conllu").items
    assert [(item.text, item.links) for item in found] == [(i.text, i.links) for i in read(TREE, "conllu").items]


def test_two_joined_files_are_named_by_their_second_mark() -> None:
    one = "\ufeff" + heads(0, 1) + "\n"
    with pytest.raises(UserError, match="Line 4 begins"):
        read(one + one, "conllu")


@pytest.mark.parametrize(("name", "at"), [("Ann", 0), ("Ann saw", 0), ("she", 17)])
def test_gap_rows_of_one_place_twice_are_refused(name: str, at: int) -> None:
    header = "Text\tPronoun\tPronoun-offset\tA\tA-offset\tA-coref\tB\tB-offset\tB-coref\n"
    with pytest.raises(UserError, match=r"Line 2: .* overlap"):
        read(f"{header}Ann saw Eve when she left.\tshe\t17\tAnn\t0\tTRUE\t{name}\t{at}\tFALSE\n", "gap")
