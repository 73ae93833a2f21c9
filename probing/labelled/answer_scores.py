"""SQuAD's official exact match and F1, and a baseline that returns a sentence of the passage."""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Sequence

from probing.labelled.labeled_texts import SIDE_BY_SIDE
from probing.labelled.squad import PassageQuestion

ARTICLES = re.compile(r"\b(a|an|the)\b", re.UNICODE)
PUNCTUATION = frozenset(string.punctuation)
TOKEN = re.compile(rf"{SIDE_BY_SIDE.pattern}|(?:(?!{SIDE_BY_SIDE.pattern})\S)+")
# Ends of sentences: after Latin marks only in front of a space, after Chinese and Japanese marks anywhere.
SENTENCE_END = re.compile(r"(?<=[.!?])[\"'”’)\]]*\s+|(?<=[。！？])[”’」』）]*|\n+")


def normalize_answer(text: str) -> str:
    """Return an answer in lower case without ASCII punctuation, articles and repeated spaces, as SQuAD's script does.

    >>> normalize_answer("The  U.S. Army, an army")
    'us army army'
    """
    kept = "".join(letter for letter in text.lower() if letter not in PUNCTUATION)
    return " ".join(ARTICLES.sub(" ", kept).split())


def answer_tokens(text: str) -> list[str]:
    """Return the tokens that F1 counts: the words of the normalised text.

    In scripts without spaces between words (Chinese, Japanese, Thai), each letter is a token, as in the scripts of CMRC
    2018 (arXiv:1810.07366) and MLQA (arXiv:1910.07475). SQuAD's script would count a whole Chinese answer as a single
    word. In other scripts the tokens equal those of SQuAD's script.

    >>> answer_tokens("The Eiffel Tower"), answer_tokens("北京 NBA")
    (['eiffel', 'tower'], ['北', '京', 'nba'])
    """
    return TOKEN.findall(normalize_answer(text))


def exact_match(said: str, true: str) -> float:
    """Return 1.0 if the predicted and the gold answer are equal after normalisation, else 0.0.

    >>> exact_match("the Tower!", "Tower"), exact_match("Towers", "Tower")
    (1.0, 0.0)
    """
    return float(normalize_answer(said) == normalize_answer(true))


def answer_f1(said: str, true: str, no_answer: bool = True) -> float:
    """Return the F1 of the tokens that the predicted and the gold answer share, from 0 to 1.

    If both answers are empty, F1 is 1 with ``no_answer``, as in SQuAD 2.0's script, and otherwise 0, as in SQuAD 1.1's.
    If a single answer is empty, F1 is 0.

    >>> round(answer_f1("the old tower", "Tower of Pisa"), 3), answer_f1("", "")
    (0.4, 1.0)
    """
    given, wanted = answer_tokens(said), answer_tokens(true)
    if no_answer and not (given and wanted):
        return float(given == wanted)
    same = sum((Counter(given) & Counter(wanted)).values())
    return 2 * same / (len(given) + len(wanted)) if same else 0.0


def gold_texts(question: PassageQuestion, no_answer: bool) -> list[str]:
    """Return the gold answers of a question; a single "" if the question has no answer.

    With ``no_answer``, answers that are empty after normalisation are left out, as in SQuAD 2.0's script.
    """
    texts = [answer.text for answer in question.answers]
    return [text for text in texts if normalize_answer(text)] or [""] if no_answer else texts


def score_answer(said: str, question: PassageQuestion, no_answer: bool) -> tuple[float, float]:
    """Return exact match and F1 of an answer, each the maximum over the question's gold answers."""
    golds = gold_texts(question, no_answer)
    return (
        max(exact_match(said, gold) for gold in golds),
        max(answer_f1(said, gold, no_answer) for gold in golds),
    )


def score_answers(said: Sequence[str], questions: Sequence[PassageQuestion], no_answer: bool) -> dict[str, float]:
    """Return the mean exact match and F1, from 0 to 1 (SQuAD's script prints them times 100).

    With ``no_answer``, the result also has the means over the questions with and without an answer.
    """
    scored = [score_answer(text, question, no_answer) for text, question in zip(said, questions, strict=True)]
    found = {"exact_match": _mean([em for em, _ in scored]), "f1": _mean([f1 for _, f1 in scored])}
    if not no_answer:
        return found
    for name, wanted in (("has_answer", True), ("no_answer", False)):
        some = [one for one, question in zip(scored, questions, strict=True) if bool(question.answers) is wanted]
        if some:
            found |= {f"{name}_exact_match": _mean([em for em, _ in some]), f"{name}_f1": _mean([f1 for _, f1 in some])}
    return found


def _mean(values: Sequence[float]) -> float:
    return sum(values) / max(1, len(values))


def sentences(passage: str) -> list[str]:
    """Return the sentences of a passage.

    >>> sentences("Ada wrote it. Who read it? 猫睡了。狗叫了。")
    ['Ada wrote it.', 'Who read it?', '猫睡了。', '狗叫了。']
    """
    return [text.strip() for text in SENTENCE_END.split(passage) if text.strip()]


def nearest_sentence(question: str, passage: str) -> str:
    """Return the sentence of the passage that shares the most distinct words with the question.

    The first sentence wins a tie.

    >>> nearest_sentence("Who wrote the program?", "It rained. Ada wrote a program. Bob read it.")
    'Ada wrote a program.'
    """
    asked = set(answer_tokens(question))
    return max(sentences(passage), key=lambda text: len(asked & set(answer_tokens(text))), default=passage)


def baseline_scores(questions: Sequence[PassageQuestion], no_answer: bool) -> dict[str, float]:
    """Return mean exact match and F1, as ``score_answers`` does, of a baseline that needs no model.

    The baseline answers each question with ``nearest_sentence``. It never answers that there is no answer.
    """
    said = [nearest_sentence(question.question, question.passage) for question in questions]
    found = score_answers(said, questions, no_answer)
    return {f"baseline_{name}": found[name] for name in ("exact_match", "f1")}
