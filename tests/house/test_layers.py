"""Imports between packages follow the layers, and each heavy library is imported only in its packages."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.imports import import_statements
from tests.support.repository import ROOT, files

# A package may import itself and these packages. `app` is app.py.
ROOMS = {
    "i18n": (),
    "classroom": ("i18n", "attention"),
    "attention": ("i18n",),
    "inference": ("i18n", "attention"),
    "probing": ("i18n", "attention", "inference"),
    "lessons": ("i18n", "attention", "inference", "probing"),
    "serving": ("i18n", "attention", "inference"),
    "training": ("i18n", "attention", "inference", "probing"),
    "viz": ("i18n", "attention"),
    "ui": ("i18n", "classroom", "attention", "inference", "lessons", "probing", "serving", "training", "viz"),
    "pages": ("i18n", "classroom", "attention", "inference", "lessons", "probing", "training", "viz", "ui"),
    "app": ("attention", "inference", "viz", "ui", "pages"),
    "headlight": ("i18n", "attention", "inference", "probing", "lessons", "viz"),
    "bench": (
        "i18n",
        "classroom",
        "attention",
        "inference",
        "probing",
        "serving",
        "training",
        "viz",
        "ui",
        "headlight",
    ),
    "tools": ("attention", "bench", "inference", "serving", "tests", "ui", "viz"),
    "tests": (
        "i18n",
        "classroom",
        "attention",
        "inference",
        "lessons",
        "probing",
        "serving",
        "training",
        "viz",
        "ui",
        "pages",
        "app",
        "headlight",
        "bench",
        "tools",
    ),
}
# These packages may import only a single folder of training, which runs in a separate process; pages only add jobs to
# its queue.
ONLY = {("ui", "training"): "training.jobs", ("pages", "training"): "training.jobs"}
# A library may be imported only in these packages and in tests/. Libraries that are not listed may be imported
# anywhere.
HOMES = {
    "torch": ("inference", "training", "serving", "bench"),
    "transformers": ("inference", "training", "serving", "bench"),
    "plotly": ("viz",),
    "bertviz": ("viz", "bench"),
    "matplotlib": ("viz",),
    "streamlit": ("app", "pages", "ui", "viz", "bench"),  # The benchmarks use Streamlit's protocol.
    "starlette": ("app", "pages", "ui", "viz", "serving"),
    "ray": ("probing", "serving"),
    "playwright": ("bench", "tools"),
    "anywidget": ("headlight",),
    "traitlets": ("headlight",),
    "babel": ("i18n", "ui", "tools"),
}
# Attention imports no other libraries.
ATTENTION = {"numpy"}


def imports(source: str) -> Iterator[tuple[int, str]]:
    """Yield the line and the full name of every import of a module, also inside functions."""
    for node in import_statements(source):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield node.lineno, node.module
        elif isinstance(node, ast.ImportFrom) and node.level:
            yield node.lineno, "." * node.level + (node.module or "")


def offence(room: str, name: str) -> str | None:
    """Return the rule that an import of ``name`` in ``room`` breaks, or None."""
    package = name.split(".")[0]
    if not package:
        return "relative imports hide the room; name it"
    if package in ROOMS and package != room and package not in ROOMS[room]:
        return f"{room} may import {', '.join(ROOMS[room]) or 'no other room'}"
    if (only := ONLY.get((room, package))) and not f"{name}.".startswith(f"{only}."):
        return f"of {package}, {room} may import {only} alone"
    if package in HOMES and room not in (*HOMES[package], "tests"):
        return f"{package} belongs in {', '.join(HOMES[package])}"
    known = package in sys.stdlib_module_names or package in ROOMS
    if room == "attention" and not known and package not in ATTENTION:
        return "attention is numpy only"
    return None


def offences(root: Path) -> list[str]:
    """Return every import in a tree that breaks a rule, as ``file:line``."""
    found = []
    for file in files(root):
        if file.suffix != ".py":
            continue
        room = file.parts[0].removesuffix(".py")
        if room not in ROOMS:
            found.append(f"{file}: {room} is no room; put the file in one of {', '.join(ROOMS)}")
            continue
        for line, name in imports((root / file).read_text(encoding="utf-8")):
            wrong = offence(room, name)
            if wrong:
                found.append(f"{file}:{line} imports {name}: {wrong}")
    return found


@pytest.mark.slow
def test_imports_run_one_way() -> None:
    assert offences(ROOT) == []


def test_a_wrong_import_is_found(subtests: pytest.Subtests, tmp_path: Path) -> None:
    cases = [
        ("attention/a.py", "import torch", "torch belongs in inference"),
        ("attention/a.py", "import pandas", "numpy only"),
        ("attention/a.py", "from inference.backend import LocalBackend", "attention may import i18n"),
        ("attention/a.py", "from .b import c", "relative imports hide the room"),
        (
            "inference/a.py",
            "def f():\n    from viz import explore",
            "a.py:2 imports viz: inference may import i18n, attention",
        ),
        ("inference/a.py", "import ui.state.session as s", "inference may import i18n, attention"),
        ("viz/a.py", "if True:\n    import inference.backend", "viz may import i18n, attention"),
        ("ui/a.py", "import plotly.graph_objects as go", "plotly belongs in viz"),
        ("ui/a.py", "from matplotlib.figure import Figure", "matplotlib belongs in viz"),
        ("ui/a.py", "from pages import explore", "ui may import"),
        ("ui/a.py", "from ray import serve", "ray belongs in probing, serving"),
        ("ui/a.py", "from training.finetune.command import teach", "of training, ui may import training.jobs alone"),
        ("pages/a.py", "import training.jobsearch", "of training, pages may import training.jobs alone"),
        ("inference/a.py", "import streamlit as st", "streamlit belongs in app, pages, ui"),
        ("bench/a.py", "from starlette.routing import Route", "starlette belongs in"),
        ("app.py", "import torch", "torch belongs in"),
        ("ghost/a.py", "import os", "ghost is no room"),
        ("probing/a.py", "import ui", "probing may import i18n, attention, inference"),
        ("helpers/a.py", "import os", "helpers is no room"),
        ("inference/a.py", "import tests.support.traces", "inference may import"),
    ]
    for at, (file, source, said) in enumerate(cases):
        with subtests.test(file=file, source=source):
            root = tmp_path / str(at)
            (root / file).parent.mkdir(parents=True)
            (root / file).write_text(source)
            (found,) = offences(root)
            assert file in found
            assert said in found


def test_right_imports_are_no_offence(tmp_path: Path) -> None:
    for file, source in {
        "attention/a.py": "import json\nimport numpy as np\nimport attention.b",
        "inference/a.py": "import torch\nimport transformers\nimport attention\nimport psutil",
        "viz/a.py": "import plotly\nimport bertviz\nimport streamlit\nfrom attention import trace",
        "ui/a.py": "import streamlit\nimport viz\nimport inference\nimport probing\nfrom training.jobs.job import Look",
        "pages/a.py": "from ui import session\nfrom viz import explore\nimport pandas",
        "bench/a.py": "import torch\nfrom bertviz import model_view",
        "tests/a.py": "import torch\nimport plotly\nimport streamlit\nimport app",
        "app.py": "import ui.shell\nimport streamlit",
    }.items():
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).write_text(source)
    assert offences(tmp_path) == []


def test_no_room_goes_unchecked() -> None:
    """Each package is type-checked, sorted as first-party, and tested by its docstring examples."""
    told = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    assert {name.removesuffix(".py") for name in told["mypy"]["files"]} == set(ROOMS)
    # Both names belong to scripts.
    assert {*told["ruff"]["lint"]["isort"]["known-first-party"], "pages", "app"} == set(ROOMS)
    assert {*told["pytest"]["ini_options"]["testpaths"], "pages", "app"} == set(ROOMS)


def test_the_set_up_needs_the_standard_library_only() -> None:
    guard = ("tests/offline/loopback.py", "tests/offline/sitecustomize.py")
    for file in ("tools/install.py", "tools/javascript.py", *guard):
        names = {name.split(".")[0] for _, name in imports((ROOT / file).read_text(encoding="utf-8"))}
        assert names <= sys.stdlib_module_names | {"loopback"}, file


@pytest.mark.parametrize("package", ["attention", "inference", "viz", "training.jobs.queue", "headlight"])
def test_importing_a_package_does_not_wait_for_torch(package: str) -> None:
    heavy = "{'torch', 'transformers', 'bertviz', 'matplotlib', 'streamlit'}"
    probe = f"import sys, {package}; print(*sorted({heavy} & set(sys.modules)))"
    answer = subprocess.run([sys.executable, "-c", probe], cwd=ROOT, check=True, capture_output=True, text=True)
    assert answer.stdout.strip() == ""


def test_the_server_starts_without_torch_and_matplotlib() -> None:
    """Their imports take three seconds; a thread imports torch while the first page loads (ui/server/warm_up.py)."""
    heavy = "{'torch', 'transformers', 'bertviz', 'matplotlib', 'scipy'}"
    probe = f"import sys, app; print(*sorted({heavy} & set(sys.modules)))"
    answer = subprocess.run([sys.executable, "-c", probe], cwd=ROOT, check=True, capture_output=True, text=True)
    assert answer.stdout.strip() == ""


# Streamlit's private names: in Python every module of its own except two that only offer types, and its paths; in
# scripts and styles the attributes of its elements.
INTERNALS = ("ui/streamlit_internals.py", "viz/components/shared/streamlit_internals.js", "assets/app.css")
TYPES = ("streamlit", "streamlit.delta_generator", "streamlit.navigation.page")
PRIVATE = re.compile(r"_stcore|data-testid|data-test-|data-stale|_streamlit_xsrf|STREAMLIT_INTERNAL|\.stApp\b")


def private_names(file: str, source: str) -> list[str]:
    """Return each private name of Streamlit in a file, as ``file: name``; tests and tools open pages in a browser."""
    if file in INTERNALS or file.startswith(("tests/", "tools/")):
        return []
    found = [one.group() for one in PRIVATE.finditer(source)]
    if file.endswith(".py"):
        names = (name for _, name in imports(source))
        found += [name for name in names if name.split(".")[0] == "streamlit" and name not in TYPES]
        found += re.findall(r"from streamlit import config", source)
    return [f"{file}: {name}" for name in found]


@pytest.mark.slow
def test_streamlits_internals_are_in_one_module_per_language() -> None:
    sources = [file.as_posix() for file in files(ROOT) if file.suffix in (".py", ".js", ".css")]
    assert [fault for file in sources for fault in private_names(file, (ROOT / file).read_text("utf-8"))] == []


@pytest.mark.parametrize(
    ("file", "source"),
    [
        ("ui/a.py", "from streamlit.runtime import Runtime"),
        ("pages/a.py", "def f():\n    import streamlit.web.cli"),
        ("viz/a.py", "from streamlit import config"),
        ("bench/a.py", 'PATH = "/_stcore/health"'),
        ("viz/components/a/a.js", 'page.querySelector("[data-testid=stApp]");'),
        ("viz/components/a/a.css", "[data-stale=true] { opacity: 1; }"),
    ],
)
def test_a_private_name_of_streamlit_is_found(file: str, source: str) -> None:
    assert len(private_names(file, source)) == 1
    assert private_names(INTERNALS[0], source) == private_names("tools/a.py", source) == []
