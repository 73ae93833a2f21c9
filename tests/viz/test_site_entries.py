"""Recorded pictures of a static site: maps computed by its script against those of the app."""

from __future__ import annotations

import gzip
import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attention.codec import decode_frame, frame, from_sqrt8
from tests.support.repository import ROOT
from tests.support.seen import TOKENS, picture_trace
from tools.javascript import program
from viz.components.picture.content import PictureSelection, head_map, in_every_head, part_of, rollout_map
from viz.export import TooLong
from viz.site import SiteFolder
from viz.site_entries import RecordedPicture, first_selection, picture_file

TRACE = picture_trace()
RECORDS = TRACE.records(part_of(TRACE))
# Prints rows, columns and a map of a recorded picture, of weights and of weights scaled by value norms.
COMPUTE = """
import { decodeFrame } from "%(folder)s/shared/frames.js";
import { recordedPicture } from "%(folder)s/site/pictures.js";
const source = recordedPicture(decodeFrame(Deno.readFileSync(Deno.args[0]).buffer));
const found = {};
for (const by of ["head", "norms"]) {
  for (const facing of ["out", "in"]) found[`${by} ${facing}`] = [...(await source.every(facing, 4, by)).data];
  found[by] = [...await source.map(1, 2, by)];
}
found.rollout = [...await source.map(0, 0, "rollout")];
console.log(JSON.stringify(found));
"""


@pytest.mark.slow
def test_the_script_computes_the_maps_of_the_app(tmp_path: Path) -> None:
    content, error = picture_file(RecordedPicture(TRACE, "Noise"), "photo.png")
    header, arrays = decode_frame(gzip.decompress(content))
    coded = {name: (array, "sqrt8" if name == "rollout" else "float32") for name, array in arrays.items()}
    (tmp_path / "a.bin").write_bytes(frame(header, coded))
    code = COMPUTE % {"folder": (ROOT / "viz" / "components").as_uri()}
    command = [program(), "run", "--allow-read", "--no-config", "-", str(tmp_path / "a.bin")]
    found = json.loads(subprocess.run(command, input=code, text=True, capture_output=True, check=True).stdout)
    for by in ("head", "norms"):
        for facing in ("out", "in"):
            expected = in_every_head(RECORDS, facing, 4, by)
            np.testing.assert_allclose(np.reshape(found[f"{by} {facing}"], expected.shape), expected, atol=2e-3)
        weights = from_sqrt8(np.array(found[by], np.uint8)).reshape(TOKENS, TOKENS)
        np.testing.assert_allclose(weights, head_map(RECORDS, 1, 2, by), atol=6e-3)
    rollout = from_sqrt8(np.array(found["rollout"], np.uint8)).reshape(TOKENS, TOKENS)
    np.testing.assert_allclose(rollout, rollout_map(RECORDS), atol=4e-3)
    assert 0 < error <= 2e-3


def test_a_picture_opens_with_the_first_token_without_a_patch() -> None:
    selection = first_selection(TRACE)
    assert selection.token == 0
    chosen = PictureSelection(1, 2, 5, "in", "rollout")
    content, _error = picture_file(RecordedPicture(TRACE, "Noise", selection=chosen), "photo.png")
    header, _arrays = decode_frame(gzip.decompress(content))
    assert header["payload"]["selection"] == {"layer": 1, "head": 2, "token": 5, "facing": "in", "by": "rollout"}


def test_the_folder_has_the_photo_and_the_component() -> None:
    folder = SiteFolder(["en", "zh"])
    folder.add_picture(RecordedPicture(TRACE, "<Noise>", caption="Figure 2"))
    files = folder.finish("Pictures")
    [file] = [name for name in files if name.startswith("texts/picture")]
    header, _arrays = decode_frame(gzip.decompress(files[file]))
    assert files[header["photo"]].startswith(b"\x89PNG")
    assert header["said"]["zh"]["words"]
    page = files["index.html"].decode()
    assert "<Noise>" not in page
    assert all(name in page for name in files if name.startswith(("picture-", "texts/picture")))


def test_a_picture_with_too_many_tokens_is_refused() -> None:
    class Large:
        source = ("",) * 5000

    fields: dict[str, Any] = {"trace": Large()}
    with pytest.raises(TooLong, match="5000"):
        picture_file(RecordedPicture(title="Large", **fields), "photo.png")
