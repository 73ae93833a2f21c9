"""Files of questions about passages in SQuAD's JSON format.

Version 1.1 is described in arXiv:1606.05250; version 2.0 adds questions without an answer (arXiv:1806.03822).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from i18n import gettext_lazy
from inference.errors import UserError
from probing.labelled.files import LONGEST, MOST_ROWS, SHARES, File, name_file_in_errors
from probing.labelled.labeled_texts import HeadKind
from probing.labelled.loading import PARTS, TaskFiles

SHOWN = 60  # characters of an answer or a name in a message


@dataclass(frozen=True)
class GoldAnswer:
    """An answer from a file: its text, and the index of its first character in the passage."""

    text: str
    start: int

    @property
    def end(self) -> int:
        """Return the index in the passage after the answer's last character."""
        return self.start + len(self.text)


@dataclass(frozen=True)
class PassageQuestion:
    """A question about a passage; ``answers`` is empty if the passage does not contain the answer."""

    id: str
    question: str
    passage: str
    answers: tuple[GoldAnswer, ...]


@dataclass(frozen=True)
class QuestionSet:
    """The questions for fine-tuning, in three splits, and notes from loading.

    ``no_answer`` is True if the files mark unanswerable questions, as SQuAD 2.0 does.
    """

    train: tuple[PassageQuestion, ...]
    dev: tuple[PassageQuestion, ...]
    test: tuple[PassageQuestion, ...]
    name: str
    no_answer: bool
    notes: tuple[str, ...] = ()
    licence: str = "not stated"
    attribution: str = "whoever brought the file"
    called: str = ""  # title on the model card; "" for the name of the folder

    @property
    def kind(self) -> HeadKind:
        """Return "answer", the kind of task head that the questions train."""
        return "answer"


@dataclass(frozen=True)
class ParsedQuestions:
    """The questions of a file in SQuAD's JSON format.

    ``marked`` is True if the file uses SQuAD 2.0's key "is_impossible". ``empty`` is the number of questions that were
    left out because they contain no letters.
    """

    questions: tuple[PassageQuestion, ...]
    marked: bool
    empty: int  # number of questions without letters, which were left out


def load_questions(train: Path, dev: Path | None, test: Path | None, seed: int = 0) -> QuestionSet:
    """Load the question files for fine-tuning, as `read_questions` does; may raise UserError."""
    others = (None if path is None else File.from_path(path) for path in (dev, test))
    return read_questions(TaskFiles(File.from_path(train), *others), seed)


def read_questions(files: TaskFiles, seed: int = 0) -> QuestionSet:
    """Parse the question files for fine-tuning; a missing dev or test split is taken from train by passages.

    Raise UserError if a file is not in SQuAD's format, or if there are too few questions to split.
    """
    notes: list[str] = []
    parsed: dict[str, ParsedQuestions] = {}
    for part, file in files.by_split().items():
        parsed[part] = found = parse_questions(file)
        if found.empty:
            notes.append(
                gettext_lazy("{name}: {empty} empty questions were left out.", name=file.name, empty=found.empty)
            )
    missing = [part for part in PARTS if part not in parsed]
    divided = split_questions(parsed["train"].questions, missing, seed) if missing else {}
    parts = {part: divided[part] if part in divided else parsed[part].questions for part in PARTS}
    if missing:
        sizes = ", ".join(f"{len(parts[part]):,} {part}" for part in PARTS)
        notes.append(
            gettext_lazy(
                "{name} was split here with seed {seed}. Rows: {sizes}.",
                name=files.train.name,
                seed=seed,
                sizes=sizes,
            )
        )
    marked = any(found.marked for found in parsed.values())
    return QuestionSet(parts["train"], parts["dev"], parts["test"], files.train.name, marked, tuple(notes))


def parse_questions(file: File) -> ParsedQuestions:
    """Return the questions of a file in SQuAD's JSON format; raise UserError that names the file and the place.

    >>> passage = {"context": "Ada wrote it.", "qas": [
    ...     {"id": "1", "question": "Who wrote it?", "answers": [{"text": "Ada", "answer_start": 0}]}]}
    >>> found = parse_questions(File("a.json", json.dumps({"data": [{"paragraphs": [passage]}]}).encode()))
    >>> found.questions[0].answers, found.marked
    ((GoldAnswer(text='Ada', start=0),), False)
    """
    with name_file_in_errors(file):
        text, _, _ = file.read(words=True)
        try:
            whole = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise UserError(_wrong_json(error)) from error
        read = list(_questions(whole))
        if not read:
            raise UserError(gettext_lazy("There are no questions; expected SQuAD's JSON with entries in “qas”."))
        kept = tuple(question for question, _ in read if question.question.strip())
        if not kept:
            raise UserError(gettext_lazy("All questions are empty. Fill each “question”."))
        return ParsedQuestions(kept, any(marked for _, marked in read), len(read) - len(kept))


def _wrong_json(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return gettext_lazy(
            "The file is not valid JSON: line {line}, column {column}.",
            line=error.lineno,
            column=error.colno,
        )
    return gettext_lazy("The file's JSON is nested too deeply. Use SQuAD's format.")


def _questions(whole: Any) -> Iterator[tuple[PassageQuestion, bool]]:
    """Yield each question, and True if it has the key "is_impossible"."""
    count = 0
    for number, article in enumerate(_list(whole, "data", "the file")):
        at = f"data {number + 1}"
        for index, paragraph in enumerate(_list(article, "paragraphs", at)):
            here = f"{at}, paragraph {index + 1}"
            passage = _text(paragraph, "context", here)
            if not passage.strip():
                raise UserError(gettext_lazy("The “context” of {place} is empty. Give its text.", place=here))
            for entry in _list(paragraph, "qas", here):
                count += 1
                if count > MOST_ROWS:
                    raise UserError(gettext_lazy("There are over {most:,} questions. Use fewer.", most=MOST_ROWS))
                yield _question(entry, passage, f"{here}, question {count}", str(count))


def _question(entry: Any, passage: str, place: str, number: str) -> tuple[PassageQuestion, bool]:
    question = _text(entry, "question", place)
    named = entry.get("id", number)
    if isinstance(named, str) and named:
        place = f"question {named[:SHOWN]}"
    impossible = entry.get("is_impossible")
    if not isinstance(impossible, bool | None):
        raise UserError(gettext_lazy("“is_impossible” of {place} must be true or false.", place=place))
    answers = tuple(_answer(one, passage, place) for one in _list(entry, "answers", place))
    if impossible and answers:
        raise UserError(
            gettext_lazy(
                "{place} has answers, but “is_impossible” is true. Remove the answers, or write false.", place=place
            )
        )
    if not (answers or impossible):
        raise UserError(gettext_lazy("{place} has no answers. Give one, or write “is_impossible”: true.", place=place))
    return PassageQuestion(str(named), question, passage, answers), impossible is not None


def _answer(entry: Any, passage: str, place: str) -> GoldAnswer:
    text = _text(entry, "text", place)
    start = entry.get("answer_start")
    if isinstance(start, bool) or not isinstance(start, int):
        raise UserError(gettext_lazy("An answer of {place} has no number “answer_start”.", place=place))
    if not text.strip():
        raise UserError(gettext_lazy("An answer of {place} is empty. Give its text.", place=place))
    if start < 0 or passage[start : start + len(text)] != text:
        found = passage.find(text)
        known = (
            gettext_lazy("it starts at letter {found}", found=found)
            if found >= 0
            else gettext_lazy("the passage lacks it")
        )
        raise UserError(
            gettext_lazy(
                "The answer “{answer}” of {place} is not at letter {start}: {known}.",
                answer=text[:SHOWN],
                place=place,
                start=start,
                known=known,
            )
        )
    return GoldAnswer(text, start)


def _list(holder: Any, key: str, place: str) -> list[Any]:
    """Return the list ``key`` of a JSON object; raise UserError if it is missing or no list."""
    found = holder.get(key) if isinstance(holder, dict) else None
    if not isinstance(found, list):
        raise UserError(
            gettext_lazy(
                "{place} has no list “{key}”; expected SQuAD's data, paragraphs, qas, answers.",
                place=place[:1].upper() + place[1:],
                key=key,
            )
        )
    return found


def _text(holder: Any, key: str, place: str) -> str:
    """Return the text ``key`` of a JSON object; raise UserError if it is missing, no text or too long."""
    found = holder.get(key) if isinstance(holder, dict) else None
    if not isinstance(found, str):
        raise UserError(
            gettext_lazy("{place} has no text “{key}”. Add it.", place=place[:1].upper() + place[1:], key=key)
        )
    if len(found) > LONGEST:
        raise UserError(
            gettext_lazy(
                "“{key}” of {place} has {characters:,} characters; the limit is {longest:,}. Shorten it.",
                key=key,
                place=place,
                characters=len(found),
                longest=LONGEST,
            )
        )
    if any(0xD800 <= ord(letter) <= 0xDFFF for letter in found):
        raise UserError(gettext_lazy("“{key}” of {place} holds half of a character. Remove it.", key=key, place=place))
    return found


def split_questions(
    questions: Sequence[PassageQuestion], parts: Sequence[str], seed: int
) -> dict[str, tuple[PassageQuestion, ...]]:
    """Divide questions into "train" and ``parts``; each part gets a tenth of the passages, at least one.

    Questions about the same passage are in the same split. If there are fewer passages than splits, the questions are
    divided without regard to passages. Raise UserError if there are too few questions as well.

    >>> some = [PassageQuestion(str(at), "Who?", f"passage {at // 2}", ()) for at in range(40)]
    >>> {part: len(rows) for part, rows in split_questions(some, ["dev", "test"], 0).items()}
    {'train': 32, 'dev': 4, 'test': 4}
    """
    groups = dict.fromkeys(question.passage for question in questions)
    by_passage = len(groups) > len(parts)
    keys = [question.passage if by_passage else f"{at}" for at, question in enumerate(questions)]
    waiting = sorted(dict.fromkeys(keys), key=lambda key: _number(key, seed))
    if len(waiting) <= len(parts):
        raise UserError(
            gettext_lazy(
                "{questions} questions are too few to split. Add some, or a file for each part.",
                questions=len(questions),
            )
        )
    part_of: dict[str, str] = {}
    total = len(waiting)
    for part in parts:
        many = max(1, round(SHARES[part] * total))
        part_of.update(dict.fromkeys(waiting[:many], part))
        waiting = waiting[many:]
    divided: dict[str, list[PassageQuestion]] = {part: [] for part in ("train", *parts)}
    for key, question in zip(keys, questions, strict=True):
        divided[part_of.get(key, "train")].append(question)
    return {part: tuple(rows) for part, rows in divided.items()}


def _number(key: str, seed: int) -> bytes:
    return hashlib.blake2b(f"{seed}\n{key}".encode(), digest_size=8).digest()
