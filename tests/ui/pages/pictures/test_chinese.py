"""The page Pictures in Chinese: nothing that it says itself is left in English."""

from __future__ import annotations

import pytest

from tests.support.asking import asked
from tests.support.words import english
from wording import speaking

pytestmark = pytest.mark.slow

BY = "Stéfan van der Walt"  # whose photo it is
STATES: list[dict[str, object]] = [
    {},
    {"show": "matrix"},
    {"shown": "rollout", "look": "in"},
    {"show": "says"},
    {"shown": "norms"},
    {"given": "0123456789ab"},
    {"vision": "nobody/nothing", "side": 336},
]


@pytest.mark.parametrize("state", STATES, ids=lambda state: str(state)[:60])
def test_all_is_told(state: dict[str, object]) -> None:
    page = asked("pictures", lang="zh", **state)
    assert english(page, BY, *map(str, state.values())) == []
    assert [title.value for title in page.title] == ["视觉 Transformer 在看哪里？"]


def test_a_refused_file_is_told() -> None:
    page = asked("pictures", lang="zh")
    with speaking("zh"):
        page.file_uploader[0].upload("a.png", b"GIF89a", "image/png").run()
    assert english(page, BY) == []
