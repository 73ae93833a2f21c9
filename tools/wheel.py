"""Build of the wheels `headlight-attention` (notebooks and terminals) and `headlight-attention-app`.

make wheel          both and the source archive of the first, into dist/

The repository's packages have common names. Therefore the wheels contain them as subpackages of `headlight`, in
the same folder as the modules of headlight/, with rewritten imports (tools/namespace_rewrite.py). The second wheel
contains the rest of the app: its packages, models, translations and other large files. It installs into the same
folder, so that all paths are the same as in the repository. Names, versions and dependencies come from
pyproject.toml. `pip install FOLDER` builds the first wheel through the hook below.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import tarfile
import tempfile
import tomllib
import warnings
import zipfile
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from tools.namespace_rewrite import Placing
from viz.components.script import COMMENT

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = "headlight"
ROOMS = ("attention", "inference", "lessons", "probing", "viz", "i18n")
APP_ROOMS = ("classroom", "pages", "serving", "training", "ui")
LAUNCHER = "app.py"
KINDS = {".py", ".js", ".css", ".toml"}  # suffixes of included files; files with other suffixes are tests
# Assets of the first wheel; the others belong to the second.
ASSETS = ("alignments", "habits.safetensors", "lessons", "probes", "pronoun_heads.json")
LEFT_OUT = ("answers", "screenshots")  # assets in neither wheel; stored answers name the modules of a checkout
AS_OLD_AS_ZIP = "315532800"  # the earliest date in a zip archive, for reproducible wheels


class CannotBuild(ValueError):
    """Raised if a wheel cannot be built; the message is one sentence."""


def stage_files(root: Path, to: Path) -> None:
    """Copy the files of the first wheel to a folder: headlight/, the packages it needs, and their assets."""
    names = {*ROOMS, *APP_ROOMS, "app", "assets"}
    for file in sorted((root / PACKAGE).iterdir()):
        if file.stem in names:
            raise CannotBuild(f"headlight/ has a {file.stem} of its own, where a wheel puts the room. Rename it.")
    _place(root, to, ((room, room) for room in ROOMS))
    _place(root, to, [(PACKAGE, "")])
    (to / PACKAGE / "py.typed").touch()  # tells type checkers that the package has annotations
    _copy_assets(root, to, lambda name: name in ASSETS)


def staged_app(root: Path, to: Path) -> None:
    """Copy the files of the second wheel to a folder.

    Their places are those at which the modules of the first wheel look for them.
    """
    _place(root, to, [*((room, room) for room in APP_ROOMS), (LAUNCHER, LAUNCHER)])
    shutil.copytree(root / ".streamlit", to / PACKAGE / ".streamlit")
    _copy_assets(root, to, lambda name: name not in (*ASSETS, *LEFT_OUT))
    # The keys of translations must match the rewritten messages.
    for catalogue in (to / PACKAGE / "assets" / "words").glob("*.po"):
        _write(catalogue, _load_placing(root).rewrite_commands(catalogue.read_text(encoding="utf-8")))


def _place(root: Path, to: Path, places: Iterable[tuple[str, str]]) -> None:
    """Copy packages or single files, with rewritten imports, each to its place in the package."""
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
                content = COMMENT.sub("", content)  # the app also serves scripts without comments
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
    """Build the first wheel into a folder and return its name; this is the PEP 517 hook."""
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


def build_sdist(sdist_directory: str, _settings: Any = None) -> str:
    """Build the source archive of the first wheel into a folder and return its name; this is the PEP 517 hook."""
    about = _project()
    stem = f"{about['name'].replace('-', '_')}-{about['version']}"
    with tempfile.TemporaryDirectory() as folder:
        with zipfile.ZipFile(Path(folder) / build_wheel(folder)) as wheel:
            metadata = wheel.read(next(name for name in wheel.namelist() if name.endswith("/METADATA")))
        (Path(folder) / "PKG-INFO").write_bytes(metadata)
        archive = Path(sdist_directory) / f"{stem}.tar.gz"
        with tarfile.open(archive, "w:gz", format=tarfile.PAX_FORMAT) as tar:
            tar.add(Path(folder) / "PKG-INFO", f"{stem}/PKG-INFO")
            for file in _source_files():
                tar.add(ROOT / file, f"{stem}/{file}")
    return archive.name


def _source_files() -> Iterator[Path]:
    """Yield the paths of all files from which the first wheel is built."""
    yield from map(Path, ("pyproject.toml", "README.md", "tools/wheel.py", "tools/namespace_rewrite.py"))
    for room in (*ROOMS, PACKAGE):
        for file in sorted((ROOT / room).rglob("*")):
            if file.suffix in KINDS:
                yield file.relative_to(ROOT)
    for name in ASSETS:
        here = ROOT / "assets" / name
        for file in [here] if here.is_file() else sorted(here.rglob("*")):
            if file.is_file():
                yield file.relative_to(ROOT)


def build_app(wheel_directory: str) -> str:
    """Build the second wheel into a folder and return its name."""
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
    from setuptools import setup  # imported lazily, because importers of this module's names do not need setuptools

    os.environ.setdefault("SOURCE_DATE_EPOCH", AS_OLD_AS_ZIP)
    with warnings.catch_warnings():
        # Setuptools' own hook ignores this warning too.
        warnings.filterwarnings("ignore", "setup.py install is deprecated")
        setup(
            script_args=["-qq", "bdist_wheel", "--dist-dir", str(stage / "out")],
            name=name,
            version=about["version"],
            description=about["description"],
            long_description=(ROOT / "README.md").read_text(encoding="utf-8"),
            long_description_content_type="text/markdown",
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
    """Build both wheels and the source archive, and print their sizes."""
    out = ROOT / "dist"
    out.mkdir(exist_ok=True)
    for build in (build_wheel, build_app, build_sdist):
        wheel = out / build(str(out))
        print(f"dist/{wheel.name}: {wheel.stat().st_size / 1e6:.2f} MB", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
