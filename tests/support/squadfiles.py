"""Small files in SQuAD's JSON format."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from typing import Any

Passage = tuple[str, Sequence[dict[str, Any]]]


def question(name: str, text: str, answer: str, start: int) -> dict[str, Any]:
    """Return the entry of a question with an answer."""
    return {"id": name, "question": text, "answers": [{"text": answer, "answer_start": start}]}


def squad(passages: Sequence[Passage]) -> dict[str, Any]:
    """Return the content of a file with these passages and their questions."""
    paragraphs = [{"context": text, "qas": deepcopy(list(entries))} for text, entries in passages]
    return {"version": "1.1", "data": [{"title": "mine", "paragraphs": paragraphs}]}


PASSAGES: tuple[Passage, ...] = (
    ("Ann lives in Paris.", [question("1", "Where does Ann live?", "Paris", 13), question("2", "Who?", "Ann", 0)]),
    ("Bob lives in Rome.", [question("3", "Where does Bob live?", "Rome", 13), question("4", "Who?", "Bob", 0)]),
)


def letters(count: int, no_answer: bool = False) -> dict[str, Any]:
    """Return passages of single letters whose answer is the letter after the letter of the question.

    The tiny tokenizers of tests contain every letter. With ``no_answer``, every third question asks for a letter that
    its passage lacks.
    """
    alphabet = "abcdefghijklmnopqrstuvwxyz"
    passages: list[Passage] = []
    for at in range(count):
        some = [alphabet[(7 * at + 3 * step) % 26] for step in range(6)]
        text = " ".join(some)
        place = at % 5
        answer = question(f"{at}", some[place], some[place + 1], 2 * place + 2)
        if no_answer:
            answer |= {"is_impossible": False}
            if at % 3 == 0:
                missing = next(letter for letter in alphabet if letter not in some)
                answer = {"id": f"{at}", "question": missing, "answers": [], "is_impossible": True}
        passages.append((text, [answer]))
    return squad(passages)


def chinese(count: int) -> dict[str, Any]:
    """Return Chinese passages of two sentences; the question names a person, and the answer is their city."""
    people, cities = ("安娜", "鲍勃", "李雷", "王芳"), ("巴黎", "罗马", "北京", "上海", "东京")
    passages: list[Passage] = []
    for at in range(count):
        pairs = [(people[(at + step) % 4], cities[(at // 2 + 2 * step) % 5]) for step in range(2)]
        text = "".join(f"{person}住在{city}。" for person, city in pairs)
        person, city = pairs[at % 2]
        passages.append((text, [question(f"{at}", f"{person}住在哪里？", city, text.index(city))]))
    return squad(passages)
