"""The torch calls of a forward pass, and a PyTorch program that repeats them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.overrides import resolve_name

from attention.stages.formulas import MOVES
from inference.files import extras, sources
from inference.files.embedded import OWN
from inference.loaded_model import LoadedModel
from inference.request import EMBEDDED

Array = npt.NDArray[Any]

NESTED = (dict, list, tuple, slice)
MASKED = 1e30  # larger absolute values were set by a mask


@dataclass(eq=False)
class Value:
    """A tensor in a forward pass: an input, a weight, or a result of a torch call.

    ``call`` is the call that computed the tensor, or None. ``weight`` is the name of a weight in the model's files, ""
    for other tensors.
    """

    code: str  # its expression in the program
    shape: tuple[int, ...]
    call: FunctionCall | None = None
    output: int = 0  # the index among the call's results
    weight: str = ""
    grown: bool = False  # True if it depends on weights, so that numpy recomputes it
    array: Array | None = None  # numbers of masks and index tensors, which numpy takes from the pass


@dataclass(eq=False)
class FunctionCall:
    """A call of a torch function; ``given`` and ``named`` are its arguments, with a Value for each tensor.

    ``away`` is the largest difference between the results of torch and NumPy, and ``size`` the largest absolute number
    in torch's result. If the NumPy result is missing or wrong, ``refused`` is the reason.
    """

    number: int
    name: str
    path: str  # of the module that made the call
    layer: tuple[str, int] | None  # the module list of its layer, and the index of the layer's run
    given: tuple[Any, ...]
    named: dict[str, Any]
    line: str = ""  # its line in the PyTorch program
    shape: tuple[int, ...] = ()
    grown: bool = False
    fractions: bool = False  # True if its result has a floating-point type
    away: float = 0.0
    size: float = 0.0
    refused: str = ""

    @property
    def moves(self) -> bool:
        """Return True if the call only rearranges numbers, such as a reshape."""
        return self.name in MOVES

    def reads(self) -> list[Value]:
        """Return the tensors among the arguments of the call, in order."""
        return [leaf for leaf in leaves((self.given, self.named)) if isinstance(leaf, Value)]


def leaves(tree: Any) -> list[Any]:
    """Return the innermost values of nested lists, tuples and dictionaries, such as the arguments of a call."""
    found: list[Any] = []
    map_leaves(tree, found.append)
    return found


def map_leaves(tree: Any, change: Callable[[Any], Any]) -> Any:
    """Return nested lists, tuples and dictionaries with ``change`` applied to their innermost values.

    >>> map_leaves((1, [2, slice(3, None)]), lambda leaf: leaf and 10 * leaf)
    (10, [20, slice(30, None, None)])
    """
    if not isinstance(tree, NESTED):  # tested first because most arguments are leaves
        return change(tree)
    if isinstance(tree, dict):
        return {key: map_leaves(one, change) for key, one in tree.items()}
    if isinstance(tree, list):
        return [map_leaves(one, change) for one in tree]
    if isinstance(tree, tuple):
        return tuple(map_leaves(one, change) for one in tree)
    return slice(map_leaves(tree.start, change), map_leaves(tree.stop, change), map_leaves(tree.step, change))


def largest_difference(anew: Array, own: Array) -> tuple[float, float]:
    """Return the largest difference of the arrays ``anew`` and ``own``, and the largest number of ``own``.

    ``anew`` is recomputed, and ``own`` is the model's array. Both results are absolute values. Masked entries are
    ignored.

    >>> largest_difference(np.array([1.0, -np.inf]), np.array([1.5, -np.inf]))
    (0.5, 1.5)
    """
    real = np.abs(own) < MASKED
    same = (anew == own) | (np.isnan(anew) & np.isnan(own)) | ~real & (anew < -MASKED)
    if not own.size:
        return 0.0, 0.0
    away = np.abs(np.where(same, 0, anew) - np.where(same, 0, own))
    return float(away.max()), float(np.abs(np.where(real, own, 0)).max())


def header(loaded: LoadedModel, model: str, given: Mapping[str, Tensor]) -> str:
    """Return the first lines of the PyTorch program, which load the model and define its inputs.

    ``model`` is the name by which the model was requested. The lines load bundled models by code of this project, and
    hub models by name and commit. A local folder or a fine-tuned model of a visitor gets a placeholder, because its
    path is private.
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
    """Return the lines that locate a model's files, and the argument of ``from_pretrained``."""
    if model in (EMBEDDED, *OWN) or extras.find_extra(model) is not None:
        return (
            "# Run this in the root of Headlight's repository, whose own code finds the files that come with it.\n"
            "from inference.files.sources import find\n"
            "from inference.settings import Settings\n\n"
            f"folder = find({model!r}, None, Settings.from_env()).folder\n"
        ), "folder"
    if sources.is_taught(model) or sources.is_path(model):
        return f"folder = {'path/to/the/model'!r}  # write here where the files of {loaded.id.name!r} lie\n", "folder"
    revision = "" if loaded.id.revision is None else f", revision={loaded.id.revision!r}"
    return "", f"{loaded.id.name!r}{revision}"


MOST = 64  # the largest number of elements of a literal tensor


def line_of(function: Any, call: FunctionCall, changes: bool) -> str:
    """Return the line of the PyTorch program that repeats a call of the torch function ``function``.

    If ``changes`` is True, the call changes its first argument in place, and the line clones that argument first.
    """
    name, made = name_of(function), f"v{call.number}"
    first, *rest = (format_argument(one) for one in call.given) if call.given else ("",)
    named = [f"{key}={format_argument(one)}" for key, one in call.named.items()]
    if name == "__setitem__":
        return f"{made} = {first}.clone(); {made}[{_place(call.given[1])}] = {format_argument(call.given[2])}"
    if name == "__getitem__":
        return f"{made} = {first}[{_place(call.given[1])}]"
    if name in ("T", "mT"):
        return f"{made} = {first}.{name}"
    if (resolve_name(function) or "").startswith("torch.Tensor."):
        copied = f"{first}.clone()" if changes else first
        return f"{made} = {copied}.{name}({', '.join([*rest, *named])})"
    place = "F" if getattr(torch.nn.functional, name, None) is function else "torch"
    return f"{made} = {place}.{name}({', '.join([first, *rest, *named])})"


def name_of(function: Any) -> str:
    """Return the name of a torch function, or of the tensor attribute that a getter reads, such as "shape"."""
    name = str(getattr(function, "__name__", function))
    return str(function.__self__.__name__) if name == "__get__" else name


def literal(tensor: Tensor) -> str:
    """Return Python code for a constant tensor of at most MOST elements, or "" for a larger tensor."""
    return f"torch.tensor({tensor.tolist()}, dtype={tensor.dtype})" if tensor.numel() <= MOST else ""


def format_argument(leaf: Any) -> str:
    """Return the Python code of an argument of a torch call."""
    if isinstance(leaf, Value):
        return leaf.code
    if isinstance(leaf, list):
        return f"[{', '.join(map(format_argument, leaf))}]"
    if isinstance(leaf, tuple):
        return f"({', '.join(map(format_argument, leaf))}{',' if len(leaf) == 1 else ''})"
    if isinstance(leaf, slice):
        return f"slice({format_argument(leaf.start)}, {format_argument(leaf.stop)}, {format_argument(leaf.step)})"
    if isinstance(leaf, torch.device):
        return f'"{leaf}"'
    return f'float("{leaf}")' if isinstance(leaf, float) and leaf in (torch.inf, -torch.inf) else repr(leaf)


def _place(at: Any) -> str:
    """Format an index as it is written in square brackets.

    >>> _place((slice(None), 0, ...))
    ':, 0, ...'
    """
    if isinstance(at, tuple):
        return ", ".join(map(_place, at)) or "()"
    if isinstance(at, slice):
        ends = ["" if end is None else format_argument(end) for end in (at.start, at.stop, at.step)]
        return f"{ends[0]}:{ends[1]}" + (f":{ends[2]}" if ends[2] else "")
    return "..." if at is Ellipsis else format_argument(at)


def required_calls(
    last: FunctionCall, enough: Callable[[FunctionCall], bool] = lambda _call: False
) -> list[FunctionCall]:
    """Return ``last`` and all calls whose results it depends on, in order.

    The search ends at calls for which ``enough`` is true: they are included, but not the calls that they depend on.
    """
    waiting, found = [last], dict[int, FunctionCall]()
    while waiting:
        call = waiting.pop()
        if call.number not in found:
            found[call.number] = call
            waiting.extend(v.call for v in call.reads() if v.call is not None and not enough(v.call))
    return [found[number] for number in sorted(found)]
