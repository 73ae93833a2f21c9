"""Detection of text encodings: a correct guess or none."""

from __future__ import annotations

import pytest

from inference.errors import UserError
from probing.text_files import decoded_or_guessed, guess
from tests.support.cases import loop_over

TEXTS = {
    "French": (
        "L'été à Paris est très chaud et ça dure",
        "cp1252 latin-1 iso8859-15 mac_roman cp850 utf_16_le utf_16_be",
    ),
    "German": ("Die Straße ist schön und für Ärzte übrig", "cp1252 mac_roman cp850 utf_16_be utf_32_le"),
    "English": ("Only £7… I’m “there” – ok", "cp1252 mac_roman"),
    "Polish": ("Zażółć gęślą jaźń i święta są piękne", "cp1250 iso8859_2"),
    "Czech": ("Příliš žluťoučký kůň úpěl ďábelské ódy", "cp1250 iso8859_2"),
    "Russian": (
        "Сегодня очень холодно и мы остались дома до вечера",
        "cp1251 koi8_r cp866 mac_cyrillic iso8859_5 utf_16_le",
    ),
    "Greek": ("Σήμερα κάνει πολύ κρύο και μείναμε στο σπίτι", "cp1253"),
    "Hebrew": ("היום קר מאוד ונשארנו בבית עד הערב", "cp1255"),
    "Hindi": ("आज बहुत ठंड है और हम घर पर रहे", "utf_16_le utf_16_be"),
    "Simplified": ("今天天气很冷，我们整天都留在家里看书喝茶", "gb18030 gbk utf_16_le utf_16_be"),
    "Traditional": ("今天天氣很冷我們整天都留在家裡看書喝茶", "big5 utf_16_le"),
    "Japanese": ("今日はとても寒いので、私たちは家で本を読みました。", "shift_jis cp932 euc_jp utf_16_be"),
    "Korean": ("오늘은 매우 추워서 우리는 집에서 책을 읽었습니다", "euc_kr cp949"),
    "mixed": ("A long English row with the word 天气 in it", "gb18030"),
}
CASES = [(language, coding) for language, (_, codings) in TEXTS.items() for coding in codings.split()]


@pytest.mark.slow
@loop_over(("language", "coding"), CASES)
def test_tables_are_read_as_they_were_written(language: str, coding: str) -> None:
    text = "text,label\n" + "".join(f"{TEXTS[language][0]} {at},{at % 2}\n" for at in range(40))
    content = text.encode(coding)
    found = guess(content)
    assert found is not None
    assert content.decode(found) == content.decode(coding)


@pytest.mark.parametrize("coding", ["cp1251", "koi8_r", "cp866", "utf_16_le"])
def test_two_words_are_enough_for_cyrillic(coding: str) -> None:
    text = "text,label\nПривет,1\nПока,0\n"
    content = text.encode(coding)
    assert content.decode(str(guess(content))) == text


@loop_over(
    "content",
    [
        b"a\0b\n",
        b"text,label\na\0,1\n" * 3,
        "été\0,1\n".encode() * 3,
        "été\0,1\n".encode("latin-1") * 3,
        bytes(range(256)) * 3,
        "Un caf\x8e noir".encode("latin-1"),
        "文本\t标签\n很好\t1\n".encode("gb18030"),
    ],
)
def test_nothing_is_guessed_for_damaged_or_short_texts(content: bytes) -> None:
    assert guess(content) is None


TSV = "text\tlabel\nIt is cold.\tA\n"


@loop_over("text", [TSV, TSV.replace("\t", ";"), TSV.replace("\t", ","), '{"text": "a"}\n', "Le chat dort.\n"])
@loop_over("end", ["\n", "\r\n", "\r"])
def test_a_mark_at_the_beginning_and_line_ends_change_nothing(text: str, end: str) -> None:
    for coding in ("utf-8", "utf-8-sig", "utf-16"):
        assert decoded_or_guessed(text.replace("\n", end).encode(coding)) == (text, "")


@loop_over("text", [TSV, TSV.replace("\t", ","), '{"text": "a"}\n{"text": "b"}\n', "1\tBirds\n2\tsing\n"])
def test_a_mark_between_two_joined_files_is_named(text: str) -> None:
    content = text.encode("utf-8-sig")
    for end in (b"\n", b"\r\n"):
        with pytest.raises(UserError, match="Line 3 "):
            decoded_or_guessed((content + content).replace(b"\n", end))


def test_a_mark_that_is_a_word_is_no_second_file() -> None:
    words = "Ann B-PER\n\ufeff O\n\ufeff\tO\n"
    assert decoded_or_guessed(words.encode()) == (words, "")
