"""Tables of a TOML file whose values are checked as they are read, and the line of every key."""

from __future__ import annotations

import re
from typing import Any

from i18n import LazyMessage, gettext_lazy
from lessons.schema import LocalizedText

Path = tuple[str | int, ...]

HEADER = re.compile(r"\s*(\[\[?)\s*([^\[\]]+?)\s*\]\]?\s*(?:#.*)?")
ENTRY = re.compile(r"\s*([A-Za-z0-9_\-.\"' ]+?)\s*=")
QUOTES = re.compile(r'\\.|"""|\'\'\'')


def line_numbers(text: str) -> dict[Path, int]:
    """Return the line number, from 1, of each table and of each key of a TOML text, by its path.

    Only keys at the beginning of a line are found. Tables of an array are numbered from 0.

    >>> line_numbers('a = 1\\n[[step]]\\ntitle.en = "x"\\n[[step]]\\n')
    {('a',): 1, ('step', 0): 2, ('step', 0, 'title', 'en'): 3, ('step', 1): 4}
    """
    found: dict[Path, int] = {}
    counts: dict[Path, int] = {}
    table: Path = ()
    quote = ""  # delimiter of an open multi-line string
    for number, line in enumerate(text.replace("\r\n", "\n").split("\n"), start=1):
        if not quote:
            if header := HEADER.fullmatch(line):
                table = _table(_names(header[2]), header[1] == "[[", counts)
                found.setdefault(table, number)
            elif entry := ENTRY.match(line):
                found.setdefault((*table, *_names(entry[1])), number)
        quote = _quote(line, quote)
    return found


def line_of(path: Path, found: dict[Path, int]) -> int:
    """Return the line number of a path; if the path has none, that of the nearest path.

    The first path below it is tried first, then the paths above it. Return 1 if no path has a line.

    >>> line_of(("step", 0, "title"), {("step", 0): 2, ("step", 0, "title", "en"): 3})
    3
    """
    for end in range(len(path), 0, -1):
        inside = [line for place, line in found.items() if place[:end] == path[:end]]
        if inside:
            return min(inside)
    return 1


def _names(dotted: str) -> Path:
    return tuple(name.strip().strip("\"'") for name in dotted.split("."))


def _table(names: Path, many: bool, counts: dict[Path, int]) -> Path:
    """Return the full path of a table header, with the index of the latest table after each array name."""
    path: Path = ()
    for at, name in enumerate(names):
        path = (*path, name)
        if many and at == len(names) - 1:
            counts[path] = counts.get(path, -1) + 1
        if path in counts:
            path = (*path, counts[path])
    return path


def _quote(line: str, quote: str) -> str:
    """Return the delimiter of a multi-line string that is open at the end of the line, or ""."""
    for mark in QUOTES.findall(line):
        if mark == quote:
            quote = ""
        elif not quote and len(mark) == 3:
            quote = mark
    return quote


LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Za-z]{2,8})?")
KEY = re.compile(r"[A-Za-z0-9_-]{1,40}")
MOST_WORDS = 8  # limit on highlighted words


class TomlTable:
    """A table of a lesson file, whose methods read and check the values of keys.

    Errors are collected in ``faults`` instead of being raised.
    """

    def __init__(self, values: dict[str, Any], path: Path, faults: list[tuple[Path, LazyMessage]]) -> None:
        self.values, self.path, self.faults = values, path, faults
        self.seen: set[str] = set()

    def __contains__(self, name: str) -> bool:
        return name in self.values

    def names(self) -> list[str]:
        """Return the keys of this table of the lesson file."""
        return list(self.values)

    def take(self, name: str) -> Any:
        """Return the value of a key and mark the key as read; None if it is missing."""
        self.seen.add(name)
        return self.values.get(name)

    def fault(self, name: str, reason: LazyMessage) -> None:
        """Record an error in the lesson file at the key ``name``."""
        self.faults.append(((*self.path, name), reason))

    def skip(self) -> None:
        """Mark all keys of the table as read, because an earlier error makes them meaningless."""
        self.seen.update(self.values)

    def report_unknown_keys(self) -> None:
        """Record an error for every key that was not read, which is usually misspelt."""
        for name in self.values:
            if name not in self.seen:
                known = ", ".join(sorted(self.seen))
                self.fault(name, gettext_lazy("“{name}” is not one of {known}.", name=name[:40], known=known))

    def text(self, name: str, most: int) -> str:
        """Return the required, non-empty string of a key, of at most ``most`` characters."""
        value = self.take(name)
        if not isinstance(value, str) or not value.strip():
            self.fault(name, gettext_lazy("“{name}” must be a text, not empty.", name=name))
            return ""
        return self._short(name, value, most)

    def localized_text(self, name: str, most: int, *, needed: bool = True) -> LocalizedText:
        """Return the text of a key, in one language (title = "…") or in several (title.en = "…")."""
        value = self.take(name)
        if value is None and not needed:
            return LocalizedText()
        return self._localized_text(name, value, most)

    def localized_texts(self, name: str, count: int, most: int) -> tuple[LocalizedText, ...]:
        """Return the list of at most ``count`` localised texts of a key; empty if the key is missing."""
        value = self.take(name)
        if value is None:
            return ()
        if not isinstance(value, list) or len(value) > count:
            self.fault(name, gettext_lazy("“{name}” must be a list of at most {most} texts.", name=name, most=count))
            return ()
        return tuple(self._localized_text(name, one, most) for one in value)

    def choices(self, name: str, count: int, most: int) -> tuple[tuple[str, LocalizedText], ...]:
        """Return the localised texts in the table of a key as (key, text), in the order of the file."""
        value = self.take(name)
        if value is None:
            return ()
        if not isinstance(value, dict) or len(value) > count or not all(map(KEY.fullmatch, value)):
            self.fault(
                name,
                gettext_lazy("“{name}” must be at most {most} texts with short keys.", name=name, most=count),
            )
            return ()
        return tuple((key, self._localized_text(name, one, most)) for key, one in value.items())

    def words(self, name: str) -> tuple[str, ...]:
        """Return the list of words of a key; empty if the key is missing."""
        value = self.take(name) or []
        if not isinstance(value, list) or len(value) > MOST_WORDS or not all(isinstance(one, str) for one in value):
            self.fault(
                name, gettext_lazy("“{name}” must be a list of at most {most} texts.", name=name, most=MOST_WORDS)
            )
            return ()
        return tuple(value)

    def integer(self, name: str, least: int, most: int) -> int:
        """Return the required integer of a key, which must be from ``least`` to ``most``."""
        value = self.take(name)
        if type(value) is not int or not least <= value <= most:
            self.fault(
                name,
                gettext_lazy(
                    "“{name}” must be a whole number from {least} to {most}.", name=name, least=least, most=most
                ),
            )
            return least
        return value

    def number(self, name: str, *, needed: bool = True) -> float | None:
        """Return the number of a key, from 0 to 1e9; None if it is missing or invalid."""
        value = self.take(name)
        if value is None and not needed:
            return None
        if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value <= 1e9:
            self.fault(name, gettext_lazy("“{name}” must be 0 or more.", name=name))
            return None
        return float(value)

    def flag(self, name: str) -> bool:
        """Return the boolean of a key; False if the key is missing."""
        value = self.take(name)
        if value is not None and not isinstance(value, bool):
            self.fault(name, gettext_lazy("“{name}” must be true or false.", name=name))
        return value is True

    def table(self, name: str) -> TomlTable | None:
        """Return the nested table of a key; None if the key is missing."""
        value = self.take(name)
        if value is not None and not isinstance(value, dict):
            self.fault(name, gettext_lazy("“{name}” must be a table.", name=name))
        return TomlTable(value, (*self.path, name), self.faults) if isinstance(value, dict) else None

    def tables(self, name: str, most: int) -> list[TomlTable]:
        """Return the array of at most ``most`` tables of a key; empty if the key is missing."""
        value = self.take(name)
        if value is None:
            return []
        if not isinstance(value, list) or not all(isinstance(one, dict) for one in value) or len(value) > most:
            self.fault(name, gettext_lazy("“{name}” must be at most {most} tables: [[…{name}]].", name=name, most=most))
            return []
        return [TomlTable(one, (*self.path, name, at), self.faults) for at, one in enumerate(value)]

    def _localized_text(self, name: str, value: Any, most: int) -> LocalizedText:
        if isinstance(value, str) and value.strip():
            return LocalizedText((("", self._short(name, value, most)),))
        if isinstance(value, dict) and value and all(isinstance(one, str) and one.strip() for one in value.values()):
            for code in value:
                if not LANGUAGE.fullmatch(code):
                    self.fault(name, gettext_lazy("“{code}” is not a language code, such as en or zh.", code=code[:40]))
            return LocalizedText(tuple((code, self._short(name, one, most)) for code, one in value.items()))
        self.fault(
            name, gettext_lazy("“{name}” must be a text, or a text for each language, such as {name}.en.", name=name)
        )
        return LocalizedText()

    def _short(self, name: str, value: str, most: int) -> str:
        if len(value) > most:
            self.fault(name, gettext_lazy("“{name}” exceeds {most:,} characters.", name=name, most=most))
        return value[:most].strip()
