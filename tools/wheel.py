"""Builds the wheels: `headlight-attention`, the rooms as one package, and `headlight-attention-models`, what is large.

make wheel          both, into dist/

The repository's rooms have names that other packages have too, so in a wheel they stand under `headlight.`, beside the
modules of headlight/, and their imports say so (tools/placing.py). What is large lies in a wheel of its own, which
installs into the same folder, so that everything is found by the paths that the repository has. Names, versions and
dependencies are pyproject.toml's. `pip install FOLDER` builds the first through the hook below.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import tempfile
import tomllib
import warnings
from collections.abc import Container, Iterator
from pathlib import Path
from typing import Any

from tools.placing import Placing
from viz.components.script import COMMENT

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = "headlight"
ROOMS = ("attention", "classroom", "inference", "pages", "probing", "training", "ui", "viz", "wording")
LAUNCHER = "app.py"
KINDS = {".py", ".js", ".css", ".toml"}  # of a room's files; the others are tests
LARGE = ("models", "rivals", "tasks", "words")  # of assets/, in the second wheel
LEFT_OUT = ("screenshots",)  # of assets/, in neither
AS_OLD_AS_ZIP = "315532800"  # 1980: the same files make the same wheel


class CannotBuild(ValueError):
    """One sentence: what stands in the way."""


def staged(root: Path, to: Path) -> None:
    """The small wheel's files: headlight/ with the rooms, the launcher, its settings and the small assets in it."""
    own = sorted((root / PACKAGE).rglob("*"))
    taken = {file.relative_to(root / PACKAGE).parts[0].removesuffix(".py") for file in own} & {*ROOMS, "app", "assets"}
    if taken:
        raise CannotBuild(f"headlight/ has a {taken.pop()} of its own, where a wheel puts the room. Rename it.")
    sources = [file for room in ROOMS for file in sorted((root / room).rglob("*"))] + [root / LAUNCHER]
    places = {file: file.relative_to(root) for file in sources}
    places |= {file: file.relative_to(root / PACKAGE) for file in own}
    chosen = {file: place for file, place in places.items() if file.suffix in KINDS and file.is_file()}
    modules = {".".join(place.with_suffix("").parts).removesuffix(".__init__") for place in chosen.values()}
    placing = _placing(modules)
    for file, place in chosen.items():
        content = file.read_text(encoding="utf-8")
        if file.suffix == ".py":
            content = placing.source(content, str(place))
        elif file.suffix == ".js":
            content = COMMENT.sub("", content)  # as a browser gets it
        _write(to / PACKAGE / place, content)
    for folder in (".streamlit", "assets"):
        shutil.copytree(root / folder, to / PACKAGE / folder, ignore=shutil.ignore_patterns(*LARGE, *LEFT_OUT))


def staged_large(root: Path, to: Path) -> None:
    """The second wheel's files, at the places where the first looks for them."""
    for name in LARGE:
        shutil.copytree(root / "assets" / name, to / PACKAGE / "assets" / name)
    for catalogue in (to / PACKAGE / "assets" / "words").glob("*.po"):  # sentences are found by what the code says
        _write(catalogue, _placing().told(catalogue.read_text(encoding="utf-8")))


def _placing(modules: Container[str] = ()) -> Placing:
    return Placing(PACKAGE, (*ROOMS, "app"), modules)


def build_wheel(wheel_directory: str, _settings: Any = None, _metadata: Any = None) -> str:
    """The small wheel into a folder; its name. What pip calls."""
    about = _project()
    scripts = [f"{name} = {target}" for name, target in about["scripts"].items()]
    out = os.path.abspath(wheel_directory)
    with _stage() as stage:
        staged(ROOT, stage)
        return _built(
            stage, out, about, about["name"],
            install_requires=about["dependencies"], extras_require=about["optional-dependencies"],
            entry_points={"console_scripts": scripts},
        )  # fmt: skip


def build_models(wheel_directory: str) -> str:
    """The second wheel into a folder; its name."""
    about, out = _project(), os.path.abspath(wheel_directory)
    with _stage() as stage:
        staged_large(ROOT, stage)
        return _built(stage, out, about, f"{about['name']}-models")


def _project() -> dict[str, Any]:
    about: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return about


@contextlib.contextmanager
def _stage() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        yield Path(folder)


def _built(stage: Path, out: str, about: dict[str, Any], name: str, **more: Any) -> str:
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
    for build in (build_wheel, build_models):
        wheel = out / build(str(out))
        print(f"dist/{wheel.name}: {wheel.stat().st_size / 1e6:.2f} MB", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
