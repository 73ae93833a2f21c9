"""Runs of JavaScript modules outside a browser, to compare their results with Python's."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from tests.support.repository import ROOT
from tools.javascript import program

# ONNX Runtime as the static site ships it.
RUNTIME = """
const vendor = "%(vendor)s/";
const ort = await import(vendor + "ort.wasm.bundle.min.mjs");
const packed = await Deno.open(new URL(vendor + "ort-wasm-simd-threaded.wasm.gz"));
const content = packed.readable.pipeThrough(new DecompressionStream("gzip"));
ort.env.wasm.wasmBinary = await new Response(content).arrayBuffer();
ort.env.wasm.numThreads = 1;
"""


def run_script(code: str, *arguments: str | Path) -> Any:
    """Run a module, with %(components)s and %(vendor)s as addresses, and return the JSON that it prints."""
    places = {
        "components": (ROOT / "viz" / "components").as_uri(),
        "vendor": (ROOT / "assets" / "vendor").as_uri(),
    }
    command = [program(), "run", "--allow-read", "--no-config", "--no-remote", "-", *map(str, arguments)]
    done = subprocess.run(command, input=code % places, text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
