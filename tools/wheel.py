"""Builds the wheels: `headlight-attention` for notebooks and terminals, `headlight-attention-app` for the pages.

make wheel          both, into dist/

The repository's rooms have names that other packages have too, so in a wheel they stand under `headlight.`, beside the
modules of headlight/, and their imports say so (tools/namespace_rewrite.py). The second wheel has what the app alone
needs: its
rooms, our models, translations and all that is large. It installs into the same folder, so that everything is found by
the paths that the repository has. Names, versions and dependencies are pyproject.toml's. `pip install FOLDER` builds
the first through the hook below.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import tempfile
import tomllib
import warnings
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from tools.namespace_rewrite import Placing
from viz.components.script import COMMENT

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = "headlight"
ROOMS = ("attention", "inference", "probing", "viz", "i18n")
APP_ROOMS = ("classroom", "lessons", "pages", "serving", "training", "ui")
LAUNCHER = "app.py"
KINDS = {".py", ".js", ".css", ".toml"}  # of a room's files; the others are tests
ASSETS = ("alignments", "habits.safetensors", "probes")  # what the first wheel's rooms read; the others are the app's
LEFT_OUT = ("screenshots",)  # of assets/, in neither
AS_OLD_AS_ZIP = "315532800"  # 1980: the same files make the same wheel


class CannotBuild(ValueError):
    """One sentence: what stands in the way."""


def stage_files(root: Path, to: Path) -> None:
    """The first wheel's files: headlight/ with its rooms and their assets in it."""
    names = {*ROOMS, *APP_ROOMS, "app", "assets"}
    for file in sorted((root / PACKAGE).iterdir()):
        if file.stem in names:
            raise CannotBuild(f"headlight/ has a {file.stem} of its own, where a wheel puts the room. Rename it.")
    _place(root, to, ((room, room) for room in ROOMS))
    _place(root, to, [(PACKAGE, "")])
    _copy_assets(root, to, lambda name: name in ASSETS)


def staged_app(root: Path, to: Path) -> None:
    """The second wheel's files, at the places where the first looks for them."""
    _place(root, to, [*((room, room) for room in APP_ROOMS), (LAUNCHER, LAUNCHER)])
    shutil.copytree(root / ".streamlit", to / PACKAGE / ".streamlit")
    _copy_assets(root, to, lambda name: name not in (*ASSETS, *LEFT_OUT))
    for catalogue in (to / PACKAGE / "assets" / "words").glob("*.po"):  # sentences are found by what the code says
        _write(catalogue, _load_placing(root).rewrite_commands(catalogue.read_text(encoding="utf-8")))


def _place(root: Path, to: Path, places: Iterable[tuple[str, str]]) -> None:
    """Rooms, or single files, with their imports rewritten; each with its place inside the package."""
    placing = _load_placing(root)
    for name, place in places:
        here = root / name
        for file in [here] if here.is_file() else sorted(here.rglob("*")):
            if file.suffix not in KINDS or not file.is_file():
                continue
            content = file.read_text(encoding="utf-8")
            if file.suffix == ".py":
                content = placing.source(content, str(file.relative_to(root)))
            elif file.suffix == ".js":
                content = COMMENT.sub("", content)  # as a browser gets it
            _write(to / PACKAGE / place / file.relative_to(here), content)


def _copy_assets(root: Path, to: Path, wanted: Callable[[str], bool]) -> None:
    target = to / PACKAGE / "assets"
    target.mkdir(parents=True, exist_ok=True)
    for source in filter(lambda each: wanted(each.name), sorted((root / "assets").iterdir())):
        if source.is_dir():
            shutil.copytree(source, target / source.name)
        else:
            shutil.copy(source, target / source.name)


@cache
def _load_placing(root: Path) -> Placing:
    rooms = (*ROOMS, *APP_ROOMS)
    files = [file.relative_to(root) for room in rooms for file in (root / room).rglob("*.py")]
    modules = {".".join(file.with_suffix("").parts).removesuffix(".__init__") for file in files}
    return Placing(PACKAGE, (*rooms, "app"), frozenset(modules))


def build_wheel(wheel_directory: str, _settings: Any = None, _metadata: Any = None) -> str:
    """The first wheel into a folder; its name. What pip calls."""
    about = _project()
    scripts = [f"{name} = {target}" for name, target in about["scripts"].items()]
    out = os.path.abspath(wheel_directory)
    with _stage() as stage:
        stage_files(ROOT, stage)
        return _build_wheel(
            stage, out, about, about["name"],
            install_requires=about["dependencies"], extras_require=about["optional-dependencies"],
            entry_points={"console_scripts": scripts},
        )  # fmt: skip


def build_app(wheel_directory: str) -> str:
    """The second wheel into a folder; its name."""
    about, out = _project(), os.path.abspath(wheel_directory)
    with _stage() as stage:
        staged_app(ROOT, stage)
        return _build_wheel(stage, out, about, f"{about['name']}-app")


def _project() -> dict[str, Any]:
    about: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return about


@contextlib.contextmanager
def _stage() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        yield Path(folder)


def _build_wheel(stage: Path, out: str, about: dict[str, Any], name: str, **more: Any) -> str:
    from setuptools import setup  # here: who only reads names of this module does without it

    os.environ.setdefault("SOURCE_DATE_EPOCH", AS_OLD_AS_ZIP)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "setup.py install is deprecated")  # as setuptools' own hook does
        setup(
            script_args=["-qq", "bdist_wheel", "--dist-dir", str(stage / "out")],
            name=name,
            version=about["version"],
            description=about["description"],
            python_requires=about["requires-python"],
            packages=[PACKAGE],
            package_data={PACKAGE: ["**/*", ".streamlit/*"]},
            **more,
        )
    (wheel,) = (stage / "out").iterdir()
    shutil.copy(wheel, out)
    return wheel.name


def _write(file: Path, content: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(content, encoding="utf-8")


def main() -> int:
    """Builds both wheels and says how large they are."""
    out = ROOT / "dist"
    out.mkdir(exist_ok=True)
    for build in (build_wheel, build_app):
        wheel = out / build(str(out))
        print(f"dist/{wheel.name}: {wheel.stat().st_size / 1e6:.2f} MB", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
