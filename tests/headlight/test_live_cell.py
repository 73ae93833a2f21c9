"""Tests of a widget's script in a real browser; the test acts as the notebook and connects it to Python."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from playwright.sync_api import Page, expect

import headlight
from headlight.widget import Widget
from tests.headlight.test_page import shown
from viz.components.explore import content

HOSTILE = "</script><img src=x onerror=parent.pwned=1>"
# A notebook's page: a cell inside a shadow root, and a model that passes all messages to Python.
NOTEBOOK = """<!doctype html><meta charset="utf-8"><body style="margin: 0; background: BACKGROUND; color: INK">
<h1>A notebook</h1><div id="cell"></div></body>"""
START = """async ({ script, style, traits }) => {
  const heard = {};
  const call = (event, ...values) => (heard[event] ?? []).forEach((listener) => listener(...values));
  globalThis.traits = traits;
  const model = {
    get: (name) => traits[name],
    set: (name, value) => {
      traits[name] = value;
      call(`change:${name}`);
    },
    save_changes: () => globalThis.saved(traits.selection),
    on: (event, listener) => (heard[event] ??= []).push(listener),
    off: (event, listener) => heard[event].splice(heard[event].indexOf(listener), 1),
    async send(content) {
      const [answer, coded] = await globalThis.kernel(content);
      const bytes = Uint8Array.from(atob(coded ?? ""), (letter) => letter.charCodeAt(0));
      call("msg:custom", answer, coded === null ? [] : [new DataView(bytes.buffer)]);
    },
  };
  globalThis.model = model;
  globalThis.listeners = () => Object.values(heard).flat().length;
  const inside = document.getElementById("cell").attachShadow({ mode: "open" });
  const look = document.createElement("style");
  look.textContent = style;
  const el = document.createElement("div");
  inside.append(look, el);
  const { default: widget } = await import(URL.createObjectURL(new Blob([script], { type: "text/javascript" })));
  globalThis.leave = widget.render({ model, el });
}"""


def open_cell(page: Page, widget: Widget, dark: bool) -> None:
    """Open the widget in a page; Playwright carries its messages."""
    answers: list[Any] = []
    widget.send = lambda content, buffers=(): answers.append((content, buffers))

    def kernel(content: dict[str, Any]) -> Any:
        widget._handle_custom_msg(content, [])  # noqa: SLF001  (ipywidgets calls this method for messages)
        answer, frames = answers.pop()
        return [answer, base64.b64encode(frames[0]).decode() if frames else None]

    page.expose_function("kernel", kernel)
    page.expose_function("saved", lambda selection: widget.set_state({"selection": selection}))
    background, ink = ("#111", "#eee") if dark else ("#fff", "#222")
    page.set_content(NOTEBOOK.replace("BACKGROUND", background).replace("INK", ink))
    state = json.loads(json.dumps({name: widget.get_state()[name] for name in ("_payload", "selection")}))
    given = widget.get_state()
    page.evaluate(START, {"script": given["_esm"], "style": given["_css"], "traits": state})


@pytest.mark.slow
@pytest.mark.parametrize(("width", "dark"), [(1440, False), (390, True)])
def test_a_live_cell_draws_and_is_heard(page: Page, width: int, dark: bool) -> None:
    widget = shown(["The", "cat", HOSTILE, *(f"w{at}" for at in range(600))]).widget()
    page.set_viewport_size({"width": width, "height": 900})
    open_cell(page, widget, dark)
    layer, head, focus = (widget.selection[name] for name in ("layer", "head", "focus"))
    page.locator(f".hl[data-painted='|{layer}|{head}|{focus}|matrix']").wait_for()
    assert page.locator(".hl").evaluate("(el) => el.classList.contains('dark')") is dark

    page.evaluate("model.set('selection', { ...traits.selection, layer: 1, head: 2, focus: 0, target: null })")
    page.locator(".hl[data-painted='|1|2|0|matrix']").wait_for()
    page.get_by_role("button", name="cat").first.click()
    page.locator(".hl[data-painted='|1|2|1|matrix']").wait_for()
    page.wait_for_function("traits.selection.focus === 1")
    assert [widget.selection[name] for name in ("layer", "head", "focus")] == [1, 2, 1]

    page.evaluate("globalThis.keys = []; addEventListener('keydown', ({ key }) => keys.push(key))")
    for key in ("ArrowRight", "Control+k"):
        page.keyboard.press(key)
    assert page.evaluate("keys") == ["Control", "k"], "plain keys are the view's, others the notebook's too"

    expect(page.get_by_role("button", name=HOSTILE).first).to_be_visible()
    assert page.evaluate("globalThis.pwned === undefined")
    page.evaluate(f"document.body.style.background = '{'#fff' if dark else '#111'}'")  # A change of theme does this.
    expect(page.locator(".hl.dark")).to_have_count(0 if dark else 1)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.evaluate("leave()")
    assert page.evaluate("listeners()") == 0
    assert page.locator(".hl").count() == 0


@pytest.mark.slow
def test_what_the_kernel_refuses_is_told_in_its_place(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_asked: object) -> bytes:
        raise content.BadRequest("Not today.")

    monkeypatch.setitem(content.OF_A_VIEW, "rows", refuse)
    open_cell(page, headlight.view([[[0.9, 0.1], [0.4, 0.6]]], ["a", "cat"]).widget(), dark=False)
    expect(page.locator(".notice")).to_contain_text("Not today.")
    expect(page.get_by_role("button", name="Try again")).to_be_visible()
