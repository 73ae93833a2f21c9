"""Counts of style habits in docstrings and comments, and of names and modules, with falling limits.

python -m tools.voice             print every rate with its goal and its limit
python -m tools.voice --show told print each place of the habit "told" of HABITS: the words told, tell, telling
python -m tools.voice --write     lower the limits in tools/voice.json to today's values

Rates are counts per 1,000 words of docstrings and comments. The pages (`pages/`, `ui/pages/`) are measured separately
from everything else. A check (tests/house/test_voice.py) fails if a rate or the number of modules is above its limit; a
limit is never raised.
"""

from __future__ import annotations

import ast
import json
import math
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
LIMITS = ROOT / "tools" / "voice.json"
SKIPPED_FOLDERS = {".venv", ".git", "__pycache__", "dist", "build", "vendor"}
PAGES = ("pages/", "ui/pages/", "tests/ui/pages/")

HABITS = {  # pattern, goal per 1,000 words
    "what": (r"\b[Ww]hat (?!(?:is|are|was|were|do|does|did|can|if)\b[^.]*\?)(?=[a-z])", 1.0),
    "where": (r"\b[Ww]here\b", 1.5),
    "told": (r"\b(?:told|tells?|telling)\b", 0.15),
    "said": (r"\b(?:said|says?|saying)\b", 0.3),
    "stand": (r"\b(?:stands?|stood|standing)\b(?!-| for\b)", 0.1),
    "one": (r"\b[Oo]nes?\b", 2.5),
    "beside": (r"\b(?:anew|(?<!-)alone|[Bb]eside)\b", 0.3),
    "whatever": (r"\b[Ww](?:ho|hat)(?:so)?ever\b", 0.15),
}
# Numerals, and "where" for places, definitions of symbols and positions in an array.
EXEMPT = re.compile(
    r"(?i)\bone(?:-|\s+(?:of|per|by one|or more)\b)"
    r"|\b(?:sums? to|to|or|and|zero|at least|exactly|at most|only|minus|plus)\s+one\b"
    r"|(?:np|torch|jnp|numpy)\.where|[,)\]]\s+where\s+\S+\s+(?:is|are|denotes)\b"
    r"|\b(?:array|tensor|positions?|indices|list|matrix|place|file|path|point)\s+where\b"
)
IRREGULAR_PARTICIPLES = set(
    re.findall(
        r"\w+",
        "told kept made given said gone held seen read written drawn shown found taken asked done known cut "
        "put set sent left met lost built begun chosen broken spoken hidden shut split spread stood taught "
        "thought wound worn torn thrown sought sold spent swept caught bought brought lent laid led fed "
        "bound",
    )
)
VERBS_TOO = set(
    re.findall(
        r"\w+",
        "succeed indeed hundred naked done closed sorted reversed cached set put read cut split spread shut "
        "led fed embed feed need seed speed bed shed exceed proceed bleed",
    )
)
NO_VERBS = set(
    re.findall(
        r"\w+",
        "What Which Where Whether How Who When Why A An The One Of In On At By To From For With Without As "
        "All Every Each Any No Not Nothing Nobody Only Some Such Other More Most Less Many Few Much Both "
        "Either True False None Its It This That These Those There Here Then Also If So But And Or Layer "
        "Head Token Text Model Picture Row Column Number Weight",
    )
)
WORD = re.compile(r"[A-Za-z][A-Za-z'-]*")
SENTENCE = re.compile(r"[^\W\d]\w*\W+[^\W\d]\w*\W+[^\W\d]\w*")  # a literal of three words or more reads as a message
# A string, or a comment as the only group. Python 3.11 has its tokenizer in Python, which takes far longer.
COMMENT = re.compile(
    r'''"""(?:\\.|[^\\])*?"""|\'{3}(?:\\.|[^\\])*?\'{3}|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|(#[^\n]*)''', re.S
)
MAY_QUOTE = re.compile(r"\b(?:match|says|assert_message)\b")  # Only tests with one of these names can quote messages.
BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")  # These fields of a statement contain statements.
EXAMPLE = re.compile(r"(?m)^[ \t]*>>>.*(?:\n[ \t]*\S.*)*")


@dataclass(frozen=True)
class Passage:
    """The text of a docstring or comment, and the number of its first line."""

    line: int
    text: str


@dataclass
class Count:
    """Counts of words, style habits, functions and docstrings in a set of files."""

    words: int = 0
    habits: Counter[str] = field(default_factory=Counter)
    functions: int = 0
    participles: set[str] = field(default_factory=set)
    documented: int = 0
    verbs: int = 0
    modules: int = 0

    def rates(self) -> dict[str, float]:
        """Return the rate of each style habit per 1,000 words, and two shares in percent.

        They are the shares of functions named by a participle, and of docstrings that do not begin with a verb.
        """
        found = {name: 1000 * self.habits[name] / max(self.words, 1) for name in HABITS}
        found["participles"] = 100 * len(self.participles) / max(self.functions, 1)
        found["no verb first"] = 100 * (1 - self.verbs / max(self.documented, 1))
        return found


GOALS = {name: goal for name, (_, goal) in HABITS.items()} | {"participles": 1.0, "no verb first": 10.0}


MODULE_GOALS = {"pages": 100, "rest": 330}  # modules without tests and __init__.py
MODULE_ROOM = 5  # modules that may be added to a limit before others must be merged


def python_files(root: Path) -> Iterator[tuple[str, str]]:
    """Yield the name and source of each Python file."""
    for path in sorted(root.rglob("*.py")):
        name = path.relative_to(root)
        if not SKIPPED_FOLDERS & set(name.parts):
            yield name.as_posix(), path.read_text(encoding="utf-8")


@lru_cache(maxsize=1)  # All measures of a file are taken before the next file is parsed.
def statements(source: str) -> list[ast.AST]:
    """Return a module and all its statements, which contain every class and function but few of the nodes."""
    found: list[ast.AST] = [ast.parse(source)]
    for node in found:
        found.extend(inner for block in BLOCKS for inner in getattr(node, block, ()))
    return found


def prose(source: str) -> Iterator[Passage]:
    """Yield each docstring, without its examples, and each comment that is more than a directive."""
    for node in statements(source):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            text = ast.get_docstring(node)
            if text:
                yield Passage(getattr(node.body[0], "lineno", 1), EXAMPLE.sub("", text))
    for found in COMMENT.finditer(source):
        if found[1]:
            text = re.sub(r"^#\s*noqa[^#]*#?", "", found[1]).lstrip("#! ").strip()
            if text and not text.startswith(("noqa", "type:", "pragma", "mypy:")):
                yield Passage(source.count("\n", 0, found.start()) + 1, text)


def count_habits(text: str) -> dict[str, int]:
    """Return how often each style habit occurs in a text.

    >>> count_habits("What is told where nobody reads.")
    {'what': 1, 'where': 1, 'told': 1, 'said': 0, 'stand': 0, 'one': 0, 'beside': 0, 'whatever': 0}
    """
    plain = EXEMPT.sub(" ", text)
    return {name: len(re.findall(pattern, plain)) for name, (pattern, _) in HABITS.items()}


def is_participle(name: str) -> bool:
    """Return True if a function's name is a bare past participle.

    >>> [is_participle(name) for name in ("_told", "resolved", "sorted", "resolve", "told_rows")]
    [True, True, False, False, False]
    """
    bare = name.strip("_")
    return bare not in VERBS_TOO and (bare in IRREGULAR_PARTICIPLES or bool(re.fullmatch(r"[a-z]{3,}ed", bare)))


def begins_with_a_verb(docstring: str) -> bool:
    """Return True if a docstring's first word can be an imperative.

    >>> [begins_with_a_verb(text) for text in ("Return the mean.", "The mean.", "Returns the mean.")]
    [True, False, False]
    """
    first = docstring.split("\n")[0].split(" ")[0]
    return bool(re.fullmatch(r"[A-Z][a-z-]+", first)) and first not in NO_VERBS and not first.endswith(("s", "ed"))


def add_names(count: Count, source: str, name: str) -> None:
    """Add the functions of a module, and their docstrings, to a count; tests are left out."""
    for node in statements(source):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        count.functions += 1
        if is_participle(node.name):
            count.participles.add(f"{name}:{node.lineno} {node.name}")
        is_property = any(getattr(decorator, "id", "") == "property" for decorator in node.decorator_list)
        docstring = ast.get_docstring(node)
        if docstring and not node.name.startswith("_") and not is_property:
            count.documented += 1
            count.verbs += begins_with_a_verb(docstring)


def measure(sources: Iterable[tuple[str, str]]) -> dict[str, Count]:
    """Count words, style habits and names in ``sources``, separately for the pages and for all other files."""
    counts = {"pages": Count(), "rest": Count()}
    for name, source in sources:
        add_file(counts, source, name)
    return counts


def add_file(counts: dict[str, Count], source: str, name: str) -> None:
    """Add the words, style habits and names of a file to the count of its part."""
    count = counts["pages" if name.startswith(PAGES) else "rest"]
    for text in prose(source):
        count.words += len(WORD.findall(text.text))
        count.habits.update(count_habits(text.text))
    if not name.startswith("tests/"):
        add_names(count, source, name)
        count.modules += not name.endswith("__init__.py")


def public_classes(source: str, name: str) -> set[str]:
    """Return the names of the public classes that a module defines; tests are left out."""
    if name.startswith("tests/"):
        return set()
    classes = (node.name for node in statements(source) if isinstance(node, ast.ClassDef))
    return {found for found in classes if not found.startswith("_")}


def shared_names(classes: Mapping[str, set[str]]) -> dict[str, list[str]]:
    """Return the names that several modules define, with the modules, from the names of each module.

    >>> shared_names({"a.py": {"Trace", "View"}, "b.py": {"View"}})
    {'View': ['a.py', 'b.py']}
    """
    names = sorted(set().union(*classes.values()))
    found = {name: sorted(module for module, defined in classes.items() if name in defined) for name in names}
    return {name: modules for name, modules in found.items() if len(modules) > 1}


def quoted_messages(source: str) -> int:
    """Count the messages that a test quotes word by word: literals in ``match=`` and ``says(…)``.

    >>> quoted_messages('pytest.raises(ValueError, match="has no head")')
    1
    >>> quoted_messages('pytest.raises(ValueError, match=pattern(NO_HEAD))')
    0
    """
    if not MAY_QUOTE.search(source):
        return 0
    found = 0
    for node in ast.walk(statements(source)[0]):
        if isinstance(node, ast.Call):
            given = [keyword.value for keyword in node.keywords if keyword.arg == "match"]
            if getattr(node.func, "id", "") in ("says", "assert_message"):
                given += node.args
            found += sum(
                isinstance(one, ast.Constant) and isinstance(one.value, str) and bool(SENTENCE.search(one.value))
                for one in given
            )
    return found


def report() -> dict[str, Any]:
    """Return the present values of all measures with limits, for the working tree."""
    counts = measure([])
    classes: dict[str, set[str]] = {}
    quoted = 0
    for name, source in python_files(ROOT):
        add_file(counts, source, name)
        classes[name] = public_classes(source, name)
        quoted += quoted_messages(source) if name.startswith("tests/") else 0
    return {
        "rates": {
            part: {name: round(rate, 2) for name, rate in count.rates().items()} for part, count in counts.items()
        },
        "bare participles": {part: len(count.participles) for part, count in counts.items()},
        "modules": {part: count.modules for part, count in counts.items()},
        "repeated classes": sorted(shared_names(classes)),
        "quoted messages": quoted,
    }


def lower_limits(limits: dict[str, Any], now: dict[str, Any]) -> dict[str, Any]:
    """Return new limits: for each value, the old limit or today's value, whichever is smaller.

    Today's values are rounded up to a tenth, and no limit is below its goal.
    """
    rates = {
        part: {
            name: max(GOALS[name], min(limits["rates"][part][name], math.ceil(10 * rate) / 10))
            for name, rate in found.items()
        }
        for part, found in now["rates"].items()
    }
    names = {part: min(limits["bare participles"][part], found) for part, found in now["bare participles"].items()}
    return {
        "rates": rates,
        "bare participles": names,
        "modules": {
            part: max(MODULE_GOALS[part], min(limits["modules"][part], found)) for part, found in now["modules"].items()
        },
        "repeated classes": sorted(set(limits["repeated classes"]) & set(now["repeated classes"])),
        "quoted messages": min(limits["quoted messages"], now["quoted messages"]),
    }


def faults(limits: dict[str, Any], now: dict[str, Any]) -> list[str]:
    """Return a sentence for each value that is worse than its limit."""
    found = [
        f"{name} is {rate} in {part}; the limit is {limits['rates'][part][name]}."
        for part, rates in now["rates"].items()
        for name, rate in rates.items()
        if rate > limits["rates"][part][name]
    ]
    found += [
        f"{count} functions in {part} are named by a bare participle; the limit is {limits['bare participles'][part]}."
        for part, count in now["bare participles"].items()
        if count > limits["bare participles"][part]
    ]
    found += [
        f"{part} has {count} modules, {limits['modules'][part] + MODULE_ROOM} are allowed; extend or merge others."
        for part, count in now["modules"].items()
        if count > limits["modules"][part] + MODULE_ROOM
    ]
    found += [
        f"The class name {name} is defined in several modules; choose another name."
        for name in now["repeated classes"]
        if name not in limits["repeated classes"]
    ]
    if now["quoted messages"] > limits["quoted messages"]:
        found.append(
            f"Tests quote {now['quoted messages']} messages word by word, {limits['quoted messages']} are allowed; "
            "refer to the message's constant, or check the numbers in it."
        )
    return found


def show(habit: str) -> None:
    """Print each place of a habit, or each function named by a bare participle."""
    for name, source in python_files(ROOT):
        if habit == "participles" and not name.startswith("tests/"):
            count = Count()
            add_names(count, source, name)
            print(*sorted(count.participles), sep="\n", end="\n" if count.participles else "")
        elif habit in HABITS:
            for text in prose(source):
                if count_habits(text.text)[habit]:
                    print(f"{name}:{text.line}: {' '.join(text.text.split())[:140]}")


def main(arguments: list[str]) -> int:
    """Print the rates, show the places of a habit, or lower the limits; return 1 if a limit is exceeded."""
    if arguments[:1] == ["--show"]:
        show(arguments[1])
        return 0
    limits, now = json.loads(LIMITS.read_text(encoding="utf-8")), report()
    if "--write" in arguments:
        LIMITS.write_text(json.dumps(lower_limits(limits, now), indent=1) + "\n", encoding="utf-8")
        return 0
    for part, rates in now["rates"].items():
        print(f"{part}, {now['modules'][part]} modules (at most {limits['modules'][part]}): value, limit, goal")
        for name, rate in rates.items():
            print(f"  {name:14} {rate:8} {limits['rates'][part][name]:8} {GOALS[name]:8}")
    print(f"class names in several modules: {len(now['repeated classes'])}")
    print(f"messages quoted by tests: {now['quoted messages']}")
    wrong = faults(limits, now)
    print(*wrong, sep="\n")
    return min(len(wrong), 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
