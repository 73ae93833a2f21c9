"""One table of a lesson's file: what is taken out of it by name and type; what is wrong or left over is a fault."""

from __future__ import annotations

import re
from typing import Any

from i18n import LazyMessage, gettext_lazy
from lessons.schema import LocalizedText
from lessons.toml_lines import Path

LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Za-z]{2,8})?")
KEY = re.compile(r"[A-Za-z0-9_-]{1,40}")
MOST_WORDS = 8  # that are pointed at


class TomlTable:
    """A table by its path in the file. Nothing here raises: ``faults`` gathers what is wrong."""

    def __init__(self, values: dict[str, Any], path: Path, faults: list[tuple[Path, LazyMessage]]) -> None:
        self.values, self.path, self.faults = values, path, faults
        self.seen: set[str] = set()

    def __contains__(self, name: str) -> bool:
        return name in self.values

    def names(self) -> list[str]:
        """What stands in it."""
        return list(self.values)

    def take(self, name: str) -> Any:
        """Whatever stands under that name; None where nothing does."""
        self.seen.add(name)
        return self.values.get(name)

    def fault(self, name: str, reason: LazyMessage) -> None:
        """Something is wrong there."""
        self.faults.append(((*self.path, name), reason))

    def skip(self) -> None:
        """The rest is not looked at: something that decides what it means is wrong."""
        self.seen.update(self.values)

    def done(self) -> None:
        """What nobody asked for is a fault: most often a name that is spelt wrongly."""
        for name in self.values:
            if name not in self.seen:
                self.fault(name, gettext_lazy("“{name}” is not known here.", name=name[:40]))

    def text(self, name: str, most: int) -> str:
        """A text that is there."""
        value = self.take(name)
        if not isinstance(value, str) or not value.strip():
            self.fault(name, gettext_lazy("“{name}” has to be a text, and not an empty one.", name=name))
            return ""
        return self._short(name, value, most)

    def localized_text(self, name: str, most: int, *, needed: bool = True) -> LocalizedText:
        """A text in one language or in several: title = "…", or title.en = "…"."""
        value = self.take(name)
        if value is None and not needed:
            return LocalizedText()
        return self._localized_text(name, value, most)

    def many_said(self, name: str, count: int, most: int) -> tuple[LocalizedText, ...]:
        """A list of such texts."""
        value = self.take(name)
        if value is None:
            return ()
        if not isinstance(value, list) or len(value) > count:
            self.fault(name, gettext_lazy("“{name}” has to be a list of at most {most} texts.", name=name, most=count))
            return ()
        return tuple(self._localized_text(name, one, most) for one in value)

    def choices(self, name: str, count: int, most: int) -> tuple[tuple[str, LocalizedText], ...]:
        """Texts by their keys, in the order of the file."""
        value = self.take(name)
        if value is None:
            return ()
        if not isinstance(value, dict) or len(value) > count or not all(map(KEY.fullmatch, value)):
            self.fault(
                name,
                gettext_lazy("“{name}” has to be at most {most} texts, each with a short key.", name=name, most=count),
            )
            return ()
        return tuple((key, self._localized_text(name, one, most)) for key, one in value.items())

    def words(self, name: str) -> tuple[str, ...]:
        """A list of words; none where it is not there."""
        value = self.take(name) or []
        if not isinstance(value, list) or len(value) > MOST_WORDS or not all(isinstance(one, str) for one in value):
            self.fault(
                name, gettext_lazy("“{name}” has to be a list of at most {most} texts.", name=name, most=MOST_WORDS)
            )
            return ()
        return tuple(value)

    def whole(self, name: str, least: int, most: int) -> int:
        """A whole number between two others."""
        value = self.take(name)
        if type(value) is not int or not least <= value <= most:
            self.fault(
                name,
                gettext_lazy(
                    "“{name}” has to be a whole number from {least} to {most}.", name=name, least=least, most=most
                ),
            )
            return least
        return value

    def number(self, name: str, *, needed: bool = True) -> float | None:
        """A number."""
        value = self.take(name)
        if value is None and not needed:
            return None
        if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value <= 1e9:
            self.fault(name, gettext_lazy("“{name}” has to be a number, 0 or more.", name=name))
            return None
        return float(value)

    def flag(self, name: str) -> bool:
        """true or false; false where it is not there."""
        value = self.take(name)
        if value is not None and not isinstance(value, bool):
            self.fault(name, gettext_lazy("“{name}” has to be true or false.", name=name))
        return value is True

    def table(self, name: str) -> TomlTable | None:
        """A table in it; None where it is not there."""
        value = self.take(name)
        if value is not None and not isinstance(value, dict):
            self.fault(name, gettext_lazy("“{name}” has to be a table.", name=name))
        return TomlTable(value, (*self.path, name), self.faults) if isinstance(value, dict) else None

    def tables(self, name: str, most: int) -> list[TomlTable]:
        """An array of tables."""
        value = self.take(name)
        if value is None:
            return []
        if not isinstance(value, list) or not all(isinstance(one, dict) for one in value) or len(value) > most:
            self.fault(
                name, gettext_lazy("“{name}” has to be at most {most} tables: [[…{name}]].", name=name, most=most)
            )
            return []
        return [TomlTable(one, (*self.path, name, at), self.faults) for at, one in enumerate(value)]

    def _localized_text(self, name: str, value: Any, most: int) -> LocalizedText:
        if isinstance(value, str) and value.strip():
            return LocalizedText((("", self._short(name, value, most)),))
        if isinstance(value, dict) and value and all(isinstance(one, str) and one.strip() for one in value.values()):
            for code in value:
                if not LANGUAGE.fullmatch(code):
                    self.fault(name, gettext_lazy("“{code}” is no language's code, such as en or zh.", code=code[:40]))
            return LocalizedText(tuple((code, self._short(name, one, most)) for code, one in value.items()))
        self.fault(name, gettext_lazy("“{name}” has to be a text, or a text for each language: {name}.en.", name=name))
        return LocalizedText()

    def _short(self, name: str, value: str, most: int) -> str:
        if len(value) > most:
            self.fault(name, gettext_lazy("“{name}” is too long: at most {most:,} characters.", name=name, most=most))
        return value[:most].strip()
