"""The amount of text on screen by view: messages, words, long sentences, long tooltips and long labels.

python -m tools.screen_text            a table by view, and the totals with their limits and goals
python -m tools.screen_text --show translate    the long sentences, tooltips and labels of a view or package
python -m tools.screen_text --write    lower the limits in tools/screen_text.json to the present values

A message counts once in each group and once in the total. A tooltip is the ``help`` of a widget or an option, and a
label the first text of a widget or the ``label`` of an option. `tests/house/test_screen_text.py` fails if a total
exceeds its limit; limits may only fall until they meet the goals.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tools.words import KEYWORDS, ROOMS, ROOT, file_messages

LIMITS = ROOT / "tools" / "screen_text.json"
GOALS = {"messages": 3750, "words": 22_000, "long sentences": 0, "long tooltips": 0, "long labels": 0}
LONGEST = {"sentence": 25, "tooltip": 17, "label": 3}  # words
WIDGETS = frozenset(
    (
        *("button", "checkbox", "download_button", "expander", "file_uploader", "link_button", "link_to_view"),
        *("multiselect", "number_input", "page_link", "pills", "popover", "radio", "segmented_control"),
        *("select_slider", "selectbox", "slider", "tabs", "text_area", "text_input", "toggle"),
    )
)
MARKUP = re.compile(r"\]\([^)]*\)|[*_`$]|\{[^{}]*\}|:material/\w+:")
END = re.compile(r"(?<=[.!?])[”\"')]*\s+|\n+")


@dataclass
class GroupText:
    """The texts that a visitor sees in a view, or in a package that several views use.

    ``messages`` are all texts. ``long`` lists the sentences, tooltips and labels with too many words.
    """

    messages: set[str] = field(default_factory=set)
    long: dict[str, set[str]] = field(default_factory=lambda: {kind: set() for kind in LONGEST})

    def counts(self) -> dict[str, int]:
        """Return the numbers of messages, words and long texts, as shown in the table."""
        words = sum(count_words(message) for message in self.messages)
        kinds = {f"long {kind}s": len(texts) for kind, texts in self.long.items()}
        return {"messages": len(self.messages), "words": words, **kinds}


def count_words(text: str) -> int:
    """Return the number of words of a message, without markup and placeholders.

    >>> count_words("**Head** {layer}-{head}: see [the paper](https://arxiv.org/abs/1706.03762).")
    4
    """
    return sum(any(map(str.isalnum, word)) for word in MARKUP.sub(" ", text).split())


def long_sentences(text: str) -> list[str]:
    """Return the sentences of a message that have more words than allowed.

    >>> long_sentences("Short. " + "word " * 26 + "end.")[0].split()[-1], long_sentences("Short. Too.")
    ('end.', [])
    """
    return [one.strip() for one in END.split(text) if count_words(one) > LONGEST["sentence"]]


def group_of(path: Path) -> str:
    """Return the view or the package that a file belongs to.

    >>> group_of(Path("ui/pages/find/page.py")), group_of(Path("ui/show/text.py")), group_of(Path("viz/export.py"))
    ('find', 'ui/show', 'viz')
    """
    parts = path.parts
    if parts[:2] == ("ui", "pages") and len(parts) > 3:
        return parts[2]
    return "/".join(parts[: 2 if parts[0] in ("ui", "viz") and len(parts) > 2 else 1])


def _message(node: ast.AST | None) -> str | None:
    """Return the text of a call that marks a message, or None for another expression."""
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") in KEYWORDS and node.args:
        text = node.args[0]
        return text.value if isinstance(text, ast.Constant) and isinstance(text.value, str) else None
    return None


def labels_and_tooltips(source: str) -> Iterator[tuple[str, str]]:
    """Yield (kind, text) of the labels and tooltips of widgets and options in a Python file.

    >>> list(labels_and_tooltips('st.button(_("Stop it now, please"), help=_("End the work."))'))
    [('label', 'Stop it now, please'), ('tooltip', 'End the work.')]
    """
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        named = {keyword.arg: keyword.value for keyword in node.keywords}
        texts = [named.get("label"), *(node.args[:2] if name in WIDGETS else ())]
        label = next(filter(None, map(_message, texts)), None)
        if label and (name in WIDGETS or name == "option"):
            yield "label", label
        if tooltip := _message(named.get("help")):
            yield "tooltip", tooltip


def measure(files: Iterable[Path]) -> dict[str, GroupText]:
    """Return the messages on screen of each view or package; paths are relative to the repository."""
    found: dict[str, GroupText] = defaultdict(GroupText)
    for path in files:
        group = found[group_of(path)]
        for message in file_messages(ROOT / path):
            for form in (message,) if isinstance(message, str) else message:
                group.messages.add(form)
                group.long["sentence"].update(long_sentences(form))
        if path.suffix == ".py":
            for kind, text in labels_and_tooltips((ROOT / path).read_text(encoding="utf-8")):
                if count_words(text) > LONGEST[kind]:
                    group.long[kind].add(text)
    return {name: group for name, group in sorted(found.items()) if group.messages}


def report() -> dict[str, GroupText]:
    """Return the messages on screen of each view or package of the repository."""
    files = (file.relative_to(ROOT) for room in ROOMS for file in sorted((ROOT / room).rglob("*.*")))
    return measure(files)


def total(groups: dict[str, GroupText]) -> dict[str, int]:
    """Return the numbers of messages, words and long texts; a text that is in several groups counts once."""
    every = GroupText()
    for group in groups.values():
        every.messages |= group.messages
        for kind, texts in group.long.items():
            every.long[kind] |= texts
    return every.counts()


def faults(now: dict[str, int], limits: dict[str, int]) -> list[str]:
    """Return a sentence for each total that exceeds its limit.

    >>> faults({"words": 9}, {"words": 8})
    ['words on screen: 9, and the limit is 8.']
    """
    return [
        f"{name} on screen: {now[name]}, and the limit is {limit}."
        for name, limit in limits.items()
        if now[name] > limit
    ]


def main(arguments: list[str]) -> int:
    """Print the table or the long texts of a group, or lower the limits; return 1 if a limit is exceeded."""
    groups = report()
    if "--show" in arguments:
        for kind, texts in groups[arguments[arguments.index("--show") + 1]].long.items():
            for text in sorted(texts):
                print(f"{kind}, {count_words(text)} words: {text}")
        return 0
    now = total(groups)
    limits = json.loads(LIMITS.read_text(encoding="utf-8"))
    if "--write" in arguments:
        limits = {name: max(GOALS[name], min(now[name], limits.get(name, now[name]))) for name in GOALS}
        LIMITS.write_text(json.dumps(limits, indent=1) + "\n", encoding="utf-8")
    names = list(GOALS)
    print(f"{'':16}" + "".join(f"{name:>16}" for name in names))
    rows = {name: group.counts() for name, group in groups.items()} | {"all": now, "limit": limits, "goal": GOALS}
    for name, counts in rows.items():
        print(f"{name:16}" + "".join(f"{counts[kind]:>16}" for kind in names))
    return min(len(faults(now, limits)), 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
