"""The lines that all others of a saved pass count on: the model, its weights by name, and what it reads."""

from __future__ import annotations

from collections.abc import Mapping

from torch import Tensor

from inference.files import extras, fine_tuned, folders
from inference.files.embedded import OWN
from inference.loaded_model import LoadedModel
from inference.request import EMBEDDED


def header(loaded: LoadedModel, model: str, given: Mapping[str, Tensor]) -> str:
    """The first lines of a program; ``model`` is the name that the model was asked for by.

    Files that come with the app are found by the app's own code, hub models by name and commit. Where a folder of the
    operator's or a visitor's taught model lies is told to nobody: the program has a place to write it.
    """
    name = type(loaded.model).__name__
    inputs = ", ".join(f'"{key}": torch.tensor({tensor.tolist()})' for key, tensor in given.items())
    before, files = _files(loaded, model)
    if loaded.gguf:
        before = f"# The weights are packed in a GGUF file; to unpack it: pip install gguf accelerate\n{before}"
        files = f"{files}, gguf_file={loaded.gguf!r}"
    return f"""import torch
import torch.nn.functional as F
from transformers import {name}

{before}torch.set_grad_enabled(False)
model = {name}.from_pretrained({files}, dtype=torch.float32).eval()
p, b = model.get_parameter, model.get_buffer
given = {{{inputs}}}

"""


def _files(loaded: LoadedModel, model: str) -> tuple[str, str]:
    """Lines that say where a model's files lie, and what is opened then."""
    if model in (EMBEDDED, *OWN) or extras.find_extra(model) is not None:
        return (
            "# Run this in the root of Headlight's repository, whose own code finds the files that come with it.\n"
            "from inference.files.sources import find\n"
            "from inference.settings import Settings\n\n"
            f"folder = find({model!r}, None, Settings.from_env()).folder\n"
        ), "folder"
    if fine_tuned.is_taught(model) or folders.is_path(model):
        return f"folder = {'path/to/the/model'!r}  # write here where the files of {loaded.id.name!r} lie\n", "folder"
    revision = "" if loaded.id.revision is None else f", revision={loaded.id.revision!r}"
    return "", f"{loaded.id.name!r}{revision}"
