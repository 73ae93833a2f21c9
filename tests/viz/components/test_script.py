"""Tests that each component's script is bundled into a single module with its imports."""

import re
import subprocess
from pathlib import Path

import pytest

from tests.support.cases import loop_over
from tools.javascript import program
from viz.components.script import COMMENT, HERE, script, stylesheet

COMPONENTS = ("explore/explore", "token_strip/token_strip", "matrices/matrices", "notebook/notebook")
DECLARED = re.compile(r"^(?:export )?(?:default )?(?:async )?(?:function|const|let|class) (\w+)", re.MULTILINE)


@pytest.mark.parametrize("name", COMPONENTS)
def test_nothing_is_left_to_import(name: str) -> None:
    assert not re.search(r"^(import|export)[^\n]* from ", script(name), re.MULTILINE)


@pytest.mark.parametrize("name", COMPONENTS)
def test_each_module_is_there_once_and_before_what_needs_it(name: str) -> None:
    joined = script(name)
    assert joined.count("export function h(") == 1
    assert joined.index("export const clamp") < joined.index("export function createTip")
    assert joined.count("export default") == 1


@loop_over("path", sorted({*HERE.glob("*/*.js")} - {HERE / "explore/types.js"}), ids=lambda path: path.stem)
def test_no_script_declares_a_name_twice(path: Path) -> None:
    names = DECLARED.findall(script(path.relative_to(HERE).with_suffix("").as_posix()))
    assert names
    assert sorted(names) == sorted(set(names))


@loop_over("path", sorted(HERE.glob("*/*.js")), ids=lambda path: path.stem)
def test_modules_import_plain_names_that_the_others_export(path: Path) -> None:
    for statement in re.findall(r"^import .*?;", path.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL):
        plain = re.fullmatch(r'import \{([\w,\s]+)\} from "(\.\.?/[\w/]+\.js)";', statement)
        assert plain, statement
        names, module = plain.groups()
        exported = re.findall(
            r"^export (?:(?:async )?function|const) (\w+)",
            (path.parent / module).read_text(encoding="utf-8"),
            re.MULTILINE,
        )
        assert set(re.findall(r"\w+", names)) <= set(exported)


def test_styles_are_joined_in_their_order() -> None:
    joined = stylesheet("shared/look", "token_strip/token_strip")
    assert joined.index(":host") < joined.index(".chips")


def test_comments_stay_at_home_and_code_does_not() -> None:
    source = (
        'const a = "// no";\n  // gone\n/** @type {A}\n * of two lines */\nlet b = /** @type {B} */ (c); // stays\n'
    )
    assert COMMENT.sub("", source) == 'const a = "// no";\nlet b = /** @type {B} */ (c); // stays\n'


@pytest.mark.parametrize("name", COMPONENTS)
def test_the_code_is_the_same_without_its_comments(name: str, tmp_path: Path) -> None:
    """Deno loads the source and the bundle, and the bundle exports every name of the source."""
    joined = tmp_path / "joined.mjs"
    joined.write_text(script(name), encoding="utf-8")
    ask = (
        "const [joined, own] = await Promise.all(Deno.args.map((at) => import(at)));"
        "console.log(Object.keys(own).every((name) => name in joined));"
    )
    places = [joined.as_uri(), (HERE / f"{name}.js").as_uri()]
    answer = subprocess.run([program(), "eval", ask, *places], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "true"
