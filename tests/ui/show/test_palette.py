"""The search for pages, settings and terms: its entries, and what a picked entry does."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import streamlit as st

from i18n import translate, use_language
from lessons.library import CLAIMS, come_along, tour
from ui.show import palette
from ui.show.terms import TERMS
from ui.show.tour import BUTTON
from ui.state.navigation import BY_VIEW
from ui.state.view_state import ViewState
from viz.components.palette import palette as component
from viz.paper.notebook import version


@pytest.fixture
def chosen(monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    """Return the changes of the choice and of the language."""
    changes: dict[str, object] = {}
    monkeypatch.setattr(palette, "get_view_state", lambda: ViewState(special=True, words=False))
    monkeypatch.setattr(palette, "set_view_state", lambda **more: changes.update(more))
    monkeypatch.setattr(palette, "change_language", lambda code: changes.update(language=code))
    monkeypatch.setattr(palette, "change_model", lambda model: changes.update(model=model))
    monkeypatch.setattr(st, "session_state", {})
    return changes


def pick(entry: str | None) -> None:
    """Pick the entry with this id."""
    st.session_state[palette.KEY] = SimpleNamespace(picked=entry)
    palette._pick()  # noqa: SLF001


@pytest.mark.usefixtures("chosen")
def test_every_view_is_found_and_ids_are_distinct() -> None:
    entries = palette.entries()
    ids = [entry.id for entry in entries if entry.id]
    assert {f"view:{view}" for view in BY_VIEW} <= set(ids)
    assert len(ids) == len(set(ids))
    assert {entry.kind for entry in entries if not entry.id} == {"help"}


@pytest.mark.usefixtures("chosen")
@pytest.mark.parametrize(
    ("language", "words"),
    [
        (
            "en",
            [
                "offline",
                "install",
                "help",
                "about",
                "licence",
                "worksheet",
                "cite",
                "notebook",
                "answer key",
                "lesson editor",
                "teacher",
            ],
        ),
        ("zh", ["离线", "安装", "帮助", "许可证", "学习单", "引用", "答案", "教师"]),
    ],
)
def test_help_is_found_by_the_words_of_users(language: str, words: list[str]) -> None:
    with use_language(language):
        shown = [f"{entry.title} {entry.note}".lower() for entry in palette.entries() if entry.kind == "help"]
    assert [word for word in words if not any(word in text for text in shown)] == []
    assert any(version() in text for text in map(str, palette.entries()))


@pytest.mark.usefixtures("chosen")
def test_a_term_is_explained_in_at_most_25_words() -> None:
    terms = [entry for entry in palette.entries() if entry.kind == "term"]
    assert len(terms) == len(TERMS) >= 25
    assert max(len(entry.note.split()) for entry in terms) <= 25


@pytest.mark.parametrize(
    ("entry", "changes"),
    [
        ("switch:special", {"special": False}),
        ("switch:words", {"words": True}),
        ("language:zh", {"language": "zh"}),
        ("model:all-MiniLM-L6-v2", {"model": "all-MiniLM-L6-v2"}),
        ("model:not/here", {}),
        ("switch:model", {}),
        ("language:xx", {}),
        (None, {}),
    ],
)
def test_a_picked_setting_changes_the_choice(
    chosen: dict[str, object], entry: str | None, changes: dict[str, object]
) -> None:
    pick(entry)
    assert chosen == changes
    assert palette.OPENED not in st.session_state


@pytest.mark.usefixtures("chosen")
def test_a_picked_view_is_opened_once(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr(component, "mount", lambda *_: None)
    monkeypatch.setattr(palette, "go_to_view", lambda view, _query: opened.append(view))
    pick("view:vectors")
    palette.draw_palette()
    palette.draw_palette()
    assert opened == ["vectors"]


@pytest.mark.usefixtures("chosen")
def test_a_picked_term_opens_its_view() -> None:
    for entry in palette.entries():
        if entry.kind == "term":
            pick(entry.id)
            assert st.session_state.pop(palette.OPENED) in BY_VIEW
    pick("tour")
    assert st.session_state.pop(palette.OPENED) == palette.TOUR
    pick("term:999")
    assert palette.OPENED not in st.session_state


STUDENT = """
multi-head; multihead attention; QKV; MLM; masked language model; encoder; decoder; pronoun;
coreference; sinusoidal; sine cosine; heatmap; matrix; wordpiece; next sentence prediction;
scaled dot product; GPT; gradient; bias; logit lens; translate; tour; export; save image;
copy link; share link; exercise; quiz; softmax; tokenizer
"""


@pytest.mark.usefixtures("chosen")
@pytest.mark.parametrize("language", ["en", "zh"])
def test_entries_are_found_by_the_words_of_courses(language: str) -> None:
    with use_language(language):
        known = [f"{entry.title} {entry.note} {entry.aliases}".lower() for entry in palette.entries()]
    typed = [words.split() for words in STUDENT.lower().replace("\n", " ").split(";")]
    assert [words for words in typed if not any(all(word in text for word in words) for text in known)] == []


@pytest.mark.usefixtures("chosen")
def test_the_present_language_is_not_offered() -> None:
    with use_language("zh"):
        offered = {entry.id for entry in palette.entries() if entry.id.startswith("language:")}
    assert "language:en" in offered
    assert "language:zh" not in offered


def search(typed: str) -> list[str]:
    """Return the ids of the entries that contain all words of ``typed``."""
    return [
        entry.id
        for entry in palette.entries()
        if all(word in f"{entry.title} {entry.note} {entry.aliases}".lower() for word in typed.lower().split())
    ]


@pytest.mark.usefixtures("chosen")
@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_lesson_is_found_by_its_title(language: str) -> None:
    with use_language(language):
        for name, lesson in come_along().items():
            for code in {"en", language}:
                assert f"lesson:{name}" in search(lesson.title.in_language(code))
        assert sum(entry.startswith("lesson:claims_") for entry in search("claims")) == len(CLAIMS)
        assert palette.TOUR in search(tour().title.in_language(language))


@pytest.mark.usefixtures("chosen")
@pytest.mark.parametrize(
    ("typed", "entry"),
    [
        ("projector", "projector"),
        ("answer key", "view:lessons"),
        ("lesson editor", "view:lessons"),
        ("print", "view:lessons"),
        ("own lesson", "view:lessons"),
    ],
)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_teacher_finds_the_projector_and_the_key(typed: str, entry: str, language: str) -> None:
    with use_language(language):
        assert entry in search(typed)


@pytest.mark.usefixtures("chosen")
def test_a_picked_lesson_is_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[object] = []
    monkeypatch.setattr(component, "mount", lambda *_: None)
    monkeypatch.setattr(palette, "go_to_view", lambda view, query: opened.append((view, query)))
    for name in ("three_trails", "no_lesson"):
        pick(f"lesson:{name}")
        palette.draw_palette()
    assert opened == [("lessons", {"lesson": "three_trails"})]


def test_the_button_of_the_tour_names_its_minutes() -> None:
    for language in ("en", "zh"):
        with use_language(language):
            assert translate(BUTTON).startswith(str(tour().minutes))
