"""Tests of the wheels: their contents, the new names of their packages, and decoy packages with the old names."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
import venv
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from tests.house.test_layers import ROOMS, imports
from tests.house.test_setup import RUN, pins
from tests.support.repository import ROOT
from tools import wheel
from tools.namespace_rewrite import CannotPlace, Placing
from tools.wheel import CannotBuild

NAMES = (*wheel.ROOMS, *wheel.APP_ROOMS, "app")
LARGEST = 1_250_000  # Maximum size of the first wheel in bytes.
ABOUT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
# The environment contains decoy packages with the old names that cannot be imported; maps are shown, and missing
# packages give a message.
USE = """
import sys
import headlight
shown = headlight.view([[[0.9, 0.1], [0.4, 0.6]]], ["a", "cat"])
assert shown._repr_html_().startswith("<iframe")
assert shown.save("page.html").read_text(encoding="utf-8").startswith("<!doctype html>")
from headlight.command import main
assert main(["-h"]) == 0
assert main(["serve"]) == 2
assert main(["export", "A cat.", "cat.svg"]) == 2
from headlight import notebook
for name in ("html", "svg", "csv", "json"):
    assert notebook.FORMATS[name](shown.view, shown.selection)
print(*sorted({name.split(".")[0] for name in sys.modules} & {ROOMS}))
"""


def test_every_room_is_placed() -> None:
    assert {*wheel.ROOMS, *wheel.APP_ROOMS} == set(ROOMS) - {"app", "headlight", "bench", "tools", "tests"}
    assert set(ROOMS["headlight"]) <= set(wheel.ROOMS)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the first wheel as pip does: by the build hook, in a separate process."""
    out = tmp_path_factory.mktemp("dist")
    build = f"import tools.wheel; print(tools.wheel.build_wheel({str(out)!r}))"
    name = subprocess.run([sys.executable, "-c", build], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return out / name.strip().splitlines()[-1]


@pytest.fixture(scope="module")
def first(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the installed files of the first wheel."""
    out = tmp_path_factory.mktemp("first")
    with zipfile.ZipFile(built) as content:
        content.extractall(out)
    return out


@pytest.fixture(scope="module")
def whole(first: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the installed files of both wheels."""
    out = tmp_path_factory.mktemp("installed")
    shutil.copytree(first, out, dirs_exist_ok=True)
    wheel.staged_app(ROOT, out)
    return out


@pytest.mark.slow
def test_what_the_app_needs_is_in_the_second(whole: Path) -> None:
    needed = {
        "app.py",
        ".streamlit/config.toml",
        "pages/ablation.py",
        "assets/app.css",
        "assets/models/headlight-bert",
    }
    assert [name for name in sorted(needed) if not (whole / "headlight" / name).exists()] == []
    there = {file.name for file in (whole / "headlight" / "assets").iterdir()}
    assert {file.name for file in (ROOT / "assets").iterdir()} - there == {"answers", "screenshots"}


@pytest.mark.slow
def test_it_is_small_and_holds_no_room_at_its_top(built: Path) -> None:
    assert built.name == f"headlight_attention-{ABOUT['version']}-py3-none-any.whl"
    assert built.stat().st_size <= LARGEST
    with zipfile.ZipFile(built) as content:
        names = content.namelist()
        about = content.read(next(name for name in names if name.endswith("METADATA"))).decode()
        scripts = content.read(next(name for name in names if name.endswith("entry_points.txt"))).decode()
    assert {name.split("/")[0] for name in names} == {"headlight", f"headlight_attention-{ABOUT['version']}.dist-info"}
    needed = {"command.py", "attention/trace.py", "viz/components/explore/explore.js", "assets/habits.safetensors"}
    assert {f"headlight/{name}" for name in needed} <= set(names)
    assert not [name for name in names if re.search(r"\.test\.mjs|/tests/|screenshots|\.pyc$|model\.safetensors", name)]
    assert re.findall(r"^Requires-Dist: (\S+?)[<>=][^;\n]*$", about, re.MULTILINE) == ["numpy"]
    assert "headlight = headlight.command:main" in scripts


@pytest.mark.slow
def test_no_module_knows_a_room_by_its_old_name(whole: Path) -> None:
    old = {*NAMES, "tools", "tests", "bench"}
    sources = {str(file): file.read_text(encoding="utf-8") for file in whole.rglob("*.py")}
    wrong = [f"{file}:{line} {name}" for file, text in sources.items() for line, name in imports(text)
             if name.split(".")[0] in old]  # fmt: skip
    assert wrong == []
    assert len(sources) > 400


@pytest.mark.slow
def test_it_is_used_beside_packages_of_the_rooms_names(built: Path, tmp_path: Path) -> None:
    environment = tmp_path / "environment"
    venv.create(environment, with_pip=False)
    home = next(environment.glob("lib*/python*/site-packages"), environment / "Lib" / "site-packages")
    with zipfile.ZipFile(built) as content:
        content.extractall(home)
    here = Path(np.__file__).parent
    for folder in (here, here.with_name("numpy.libs")):  # The environment contains no other libraries.
        if folder.exists():
            (home / folder.name).symlink_to(folder, target_is_directory=True)
    for decoy in (*NAMES, "tools"):
        (home / decoy).mkdir()
        (home / decoy / "__init__.py").write_text(f"raise ImportError({decoy!r})")
    python = next(place for place in (environment / "bin/python", environment / "Scripts/python.exe") if place.exists())
    use = USE.replace("{ROOMS}", repr({*NAMES, "torch", "streamlit"}))
    answer = subprocess.run(
        [str(python), "-I", "-W", "error", "-c", use], cwd=tmp_path, check=False, capture_output=True, text=True
    )
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout.splitlines()[-1] == "", "no room is known by its old name, and neither torch nor Streamlit"
    assert 'pip install "headlight-attention[app]"' in answer.stderr
    assert 'pip install "headlight-attention[torch]"' in answer.stderr


# Import every module except the main script and the modules for `python -m`, which would run. Do this for each folder
# in turn and forget the modules of the folder before; libraries, which take longest, are imported a single time.
EVERYTHING = """
import importlib, pkgutil, sys
for folder in sys.argv[1:]:
    sys.path[:0] = [folder]
    import headlight
    names = [found.name for found in pkgutil.walk_packages(headlight.__path__, "headlight.")]
    for name in names:
        if not name.endswith((".shell", "__main__")):
            importlib.import_module(name)
    assert len(names) > 200
    ours = {name: module for name, module in sys.modules.items() if name.split(".")[0] == "headlight"}
    assert all(module.__file__.startswith(folder) for module in ours.values() if module.__file__)
    print(len(names), *sorted({name.split(".")[0] for name in sys.modules} & {ROOMS}))
    for name in ours:
        del sys.modules[name]
    sys.path.remove(folder)
"""


@pytest.mark.slow
def test_every_module_is_found_under_its_new_name(first: Path, whole: Path, tmp_path: Path) -> None:
    """The modules of the first wheel can be imported without the second wheel too."""
    use = EVERYTHING.replace("{ROOMS}", repr(set(NAMES)))
    command = [sys.executable, "-I", "-c", use, str(first), str(whole)]
    answer = subprocess.run(command, cwd=tmp_path, check=False, capture_output=True, text=True)
    assert answer.returncode == 0, answer.stderr
    assert re.fullmatch(r"\d+\n\d+\n", answer.stdout), "no room is known by its old name"
    alone, both = map(int, answer.stdout.split())
    assert alone < both


def test_a_module_that_is_named_in_an_unknown_way_is_refused() -> None:
    rooms = Placing("house", ("hall",), {"hall", "hall.door"})
    with pytest.raises(CannotPlace, match=r"\.py:2: 'hall\.door'"):
        rooms.source("import hall\nname = 'hall.door'", "a.py")
    assert rooms.source('find_spec("hall.door")') == 'find_spec("house.hall.door")'
    assert rooms.source('import_module(f"hall.door.{x}")') == 'import_module(f"house.hall.door.{x}")'
    assert rooms.source("é = 1; import hall.door") == "é = 1; import house.hall.door, house.hall as hall"
    assert rooms.source('"""\n>>> from hall import door\n"""') == '"""\n>>> from house.hall import door\n"""'
    assert rooms.rewrite_commands('"Write: python -m "\n"hall door"') == '"Write: python -m "\n"house.hall door"'
    kept = "from . import hall\nfrom halls import x\nimport other.hall\nhall = 'hall'\n"
    assert rooms.source(kept) == kept


def test_a_module_beside_the_rooms_that_is_named_like_one_is_refused(tmp_path: Path) -> None:
    (tmp_path / "headlight").mkdir()
    (tmp_path / "headlight" / "probing.py").touch()
    with pytest.raises(CannotBuild, match="a probing"):
        wheel.stage_files(tmp_path, tmp_path / "stage")


def test_dependencies_are_those_that_are_tested() -> None:
    """Each imported package is in the base or in an extra, in a range that contains the tested version."""
    extras = ABOUT["optional-dependencies"]
    asked = [
        Requirement(line) for line in (*ABOUT["dependencies"], *(one for lines in extras.values() for one in lines))
    ]
    own = {ABOUT["name"], f"{ABOUT['name']}-app"}
    # The recorder works with a wider range of versions, which `make record-versions` tests.
    wide = [Requirement(line) for line in extras["record"]]
    others = [one for one in asked if one.name not in own and one not in wide]
    assert {one.name for one in wide} <= {one.name for one in others}
    ranges: dict[str, SpecifierSet] = {canonicalize_name(one.name): one.specifier for one in others}
    assert [one.name for one in others if ranges[canonicalize_name(one.name)] != one.specifier] == []
    direct = {name: version for name, version, marker, used in pins(RUN) if used and (not marker or marker.evaluate())}
    assert set(direct) <= set(ranges)
    assert set(ranges) - set(direct) <= {"anywidget"}
    assert [name for name, version in direct.items() if version not in ranges[name]] == []
    assert [str(one) for one in asked if one.name == f"{ABOUT['name']}-app"] == [
        f"{ABOUT['name']}-app=={ABOUT['version']}"
    ]
