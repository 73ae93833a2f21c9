"""The Dockerfile is pinned, runs without root, and contains exactly the files that the app needs."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from tests.house.test_layers import ROOMS, imports
from tests.support.dockerfiles import Instruction, instructions, let_through, stages
from tests.support.repository import ROOT, files
from tests.support.running import free_port
from tools.install import NEWEST, OLDEST
from ui.server import metrics

TEXT = (ROOT / "Dockerfile").read_text(encoding="utf-8")
FOUND = instructions(TEXT)
SETUP, LAST = stages(FOUND)
INSIDE = let_through(files(), (ROOT / ".dockerignore").read_text(encoding="utf-8"))
KEPT = "/cache"


def of(word: str, stage: Sequence[Instruction] = FOUND) -> list[str]:
    """Return the arguments of each occurrence of an instruction."""
    return [rest for found, rest in stage if found == word]


def settings() -> dict[str, str]:
    """Return the environment variables that the last stage sets."""
    return dict(pair.split("=", 1) for line in of("ENV", LAST) for pair in line.split())


def check() -> list[str]:
    """Return the command of the health check."""
    (line,) = of("HEALTHCHECK", LAST)
    command: list[str] = json.loads(line.partition("CMD ")[2])
    return command


def test_the_base_is_pinned_and_one() -> None:
    bases = {line.split(" AS ")[0] for line in of("FROM")}
    (base,) = bases
    pinned = re.fullmatch(r"python:(3)\.(\d+)\.\d+-slim-[a-z]+", base)
    assert pinned, base
    version = (int(pinned[1]), int(pinned[2]))
    assert OLDEST <= version <= NEWEST
    assert f"lib/python{version[0]}.{version[1]}/site-packages" in TEXT


def test_nothing_comes_from_anywhere_but_the_index_and_this_folder() -> None:
    assert of("ADD") == []
    assert not re.search(r"https?://(?!127\.0\.0\.1:')|--index-url|--extra-index|\b(curl|wget|git clone)\b", TEXT)
    assert not any(re.search(r"\b(pip|uv|apt|apt-get) install\b", line) for line in of("RUN"))
    assert "torch.version.cuda is None" in TEXT


def test_nobody_is_root_and_nothing_is_written_after() -> None:
    words = [word for word, _ in LAST]
    assert re.fullmatch(r"([1-9]\d*):([1-9]\d*)", of("USER", LAST)[-1])
    assert not {"RUN", "COPY", "ADD"} & set(words[words.index("USER") :])
    assert all("--chown" not in line for line in of("COPY", LAST))  # The app's files must belong to root.


def test_all_that_is_written_lies_below_one_folder() -> None:
    assert of("VOLUME", LAST) == [KEPT]
    for name in ("HOME", "HF_HOME", "MPLCONFIGDIR", "NUMBA_CACHE_DIR", "TMPDIR"):
        assert f"{settings()[name]}/".startswith(f"{KEPT}/"), name
    assert settings()["PYTHONDONTWRITEBYTECODE"] == "1"


@pytest.mark.parametrize(
    ("given", "asked"),
    [
        ({}, ["--writer"]),
        ({"ZH": "1"}, ["--chinese"]),
        ({"LEAN": "1"}, []),
        ({"LEAN": "1", "ZH": "1"}, []),
    ],
)
def test_a_build_argument_picks_the_model(given: dict[str, str], asked: list[str], tmp_path: Path) -> None:
    """A shell runs the installing line, as Docker does, with a Python that only prints its arguments."""
    (line,) = [line for line in of("RUN", SETUP) if "tools/install.py" in line]
    printing = tmp_path / "python"
    printing.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n', encoding="utf-8")
    printing.chmod(0o755)
    environ = {"PATH": f"{tmp_path}{os.pathsep}{os.defpath}", "LEAN": "", "ZH": "", **given}
    ran = subprocess.run(["sh", "-c", line.split(" && ")[0]], env=environ, capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines() == ["tools/install.py", *asked]
    assert {"LEAN=", "ZH="} <= set(of("ARG", SETUP))
    assert "ARG" not in [word for word, _ in LAST]


def test_what_the_installer_may_read_is_in_the_image() -> None:
    """Each option in the Dockerfile has a file of requirements, which is copied before the installer runs."""
    words = [word for word, _ in SETUP]
    copied = " ".join(rest for word, rest in SETUP[: words.index("RUN")] if word == "COPY").split()
    for option in re.findall(r"--(writer|chinese|extra|cluster|tests)", " ".join(of("RUN", SETUP))):
        assert f"requirements-{option}.txt" in copied


def test_what_is_copied_is_there() -> None:
    here = {path.as_posix() for path in INSIDE}
    for line in of("COPY", SETUP):
        for source in line.split()[:-1]:
            assert source == "." or source in here, line
    compiled = next(line for line in of("RUN", SETUP) if "compileall" in line).split(" && ")[0].split()
    tops = {path.parts[0] for path in INSIDE if path.suffix == ".py"} - {"tools"}
    assert tops == set(compiled[compiled.index("-q") + 1 :])


def test_the_image_holds_what_the_app_needs_and_nothing_else() -> None:
    tops = {path.parts[0] for path in INSIDE}
    assert not {".git", ".venv", "tests", "bench", "docs", ".ci", "tools"} & (tops - {"tools"})
    assert [path.as_posix() for path in INSIDE if path.parts[0] == "tools"] == ["tools/install.py"]
    assert [path for path in INSIDE if ".test." in path.name or "screenshots" in path.parts] == []
    lacking = {
        f"{path}: {name}"
        for path in INSIDE
        if path.suffix == ".py" and path.parts[0] != "tools"
        for _, name in imports((ROOT / path).read_text(encoding="utf-8"))
        if (top := name.split(".")[0]) in ROOMS and top not in tops
    }
    assert lacking == set()
    wanted = {path for path in files() if path.parts[0] in tops - {"tools", "assets"} and ".test." not in path.name}
    assert wanted <= set(INSIDE)


def test_the_port_is_the_same_everywhere() -> None:
    assert settings()["STREAMLIT_SERVER_PORT"] == of("EXPOSE", LAST)[0]
    assert json.loads(of("CMD", LAST)[-1])[-2:] == ["run", "app.py"]
    for name in ("README.md", "README.zh.md"):
        (line,) = re.findall(r"^docker run .*$", (ROOT / name).read_text(encoding="utf-8"), re.MULTILINE)
        assert f":{of('EXPOSE', LAST)[0]} " in line
        assert "--read-only" in line
        assert f":{KEPT} " in line
        assert f"#   {line}" in TEXT.splitlines()


def test_the_container_and_the_space_are_open_by_an_address_of_their_own() -> None:
    assert settings()["STREAMLIT_SERVER_ADDRESS"] == "0.0.0.0"
    card = (ROOT / "docs" / "space" / "README.md").read_text(encoding="utf-8")
    assert "sdk: docker" in card
    for word in ("STREAMLIT_SERVER_ADDRESS=0.0.0.0", "HEADLIGHT_FOR=public", "HEADLIGHT_HOSTS"):
        assert f"`{word}`" in card


def test_the_space_s_card_names_the_port() -> None:
    card = (ROOT / "docs" / "space" / "README.md").read_text(encoding="utf-8")
    front = dict(line.split(": ", 1) for line in card.split("---\n")[1].splitlines())
    assert (front["sdk"], front["app_port"]) == ("docker", of("EXPOSE", LAST)[0])


class Asked(BaseHTTPRequestHandler):
    """A server that is healthy or not."""

    status = 200

    def do_GET(self) -> None:
        self.send_response(self.status if self.path in {route.path for route in metrics.health_routes()} else 404)
        self.end_headers()

    def log_message(self, *_said: object) -> None:
        """Log nothing."""


@pytest.mark.slow
@pytest.mark.parametrize(("status", "well"), [(200, True), (503, False), (None, False)])
def test_the_health_check_tells_a_living_server_from_a_dead_one(
    status: int | None, well: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Asked, "status", status)
    server = HTTPServer(("127.0.0.1", 0), Asked)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    port = server.server_port if status else free_port()
    environ = {**os.environ, "STREAMLIT_SERVER_PORT": str(port)}
    told = subprocess.run([sys.executable, *check()[1:]], check=False, env=environ, capture_output=True)
    server.shutdown()
    server.server_close()
    assert (told.returncode == 0) is well


def test_the_python_that_checks_is_the_image_s() -> None:
    assert check()[0] == json.loads(of("CMD", LAST)[-1])[0] == str(Path(".venv/bin/python"))
