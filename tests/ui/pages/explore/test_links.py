"""Links to the Explore page with forbidden model names."""

from __future__ import annotations

import pytest

from tests.support.asking import asked, notes


@pytest.mark.parametrize("model", ["../../etc", "/etc/passwd", "https://example.org/x", "a/b/c", "<b>x</b>"])
def test_a_model_s_name_opens_no_door(model: str) -> None:
    page = asked("explore", model=model)
    assert notes(page, "refusal")
    assert not page.exception


@pytest.mark.slow
def test_its_files_are_in_the_language_of_the_page() -> None:
    page = asked("explore", lang="zh")
    assert page.get("link_button")[0].proto.url.endswith("&lang=zh")
    assert not asked("explore").get("link_button")[0].proto.url.endswith("&lang=en")


@pytest.mark.slow
def test_what_a_link_got_wrong_is_said_again_in_the_language_that_is_picked() -> None:
    page = asked("explore", pins="x")
    (said,) = [note for note in notes(page) if "pins" in note]
    page.selectbox(key="picked_language").select("zh").run()
    (again,) = [note for note in notes(page) if "pins" in note]
    assert said.startswith("The link's")
    assert again.startswith("链接中的")
