"""What a small function inside a model computes, found by asking it: its name may say something else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from i18n import gettext_lazy
from inference.anatomy.watched_pass import Numbers

# What foreign modules are known to raise on an input that they were not made for.
BROKEN = (RuntimeError, TypeError, ValueError, LookupError, AttributeError)
NEAR = 2e-5  # the exact GELU and its tanh approximation differ by twenty times that
REACH, POINTS = 4.0, 161

FORMULAS: dict[str, Callable[[Tensor], Tensor]] = {
    "ReLU": torch.relu,
    "GELU": functional.gelu,
    gettext_lazy("GELU (tanh approximation)"): lambda x: functional.gelu(x, approximate="tanh"),
    gettext_lazy("GELU (sigmoid approximation)"): lambda x: x * torch.sigmoid(1.702 * x),
    "SiLU": functional.silu,
    gettext_lazy("squared ReLU"): lambda x: torch.relu(x) ** 2,
    "tanh": torch.tanh,
    "sigmoid": torch.sigmoid,
    gettext_lazy("identity"): lambda x: x,
}


def curve(module: Any) -> tuple[str, Numbers, Numbers] | None:
    """The formula that a function's values fit ("" for none that is known), its inputs and its outputs, (point,).

    None for a module that is no function of single numbers.

    >>> curve(torch.nn.GELU())[0]
    'GELU'
    """
    points = torch.linspace(-REACH, REACH, POINTS)
    with torch.inference_mode():
        try:
            found = module(points.clone())
            alone = module(points[:1].clone())
        except BROKEN:
            return None
        alike = (
            isinstance(found, Tensor) and found.shape == points.shape and torch.allclose(found[:1], alone, atol=1e-6)
        )
        if not alike:  # something that sums over its input, such as a softmax
            return None
        name = next((name for name, formula in FORMULAS.items() if (formula(points) - found).abs().max() < NEAR), "")
    inputs, outputs = points.numpy(), found.float().cpu().numpy()
    inputs.setflags(write=False)
    outputs.setflags(write=False)
    return name, inputs, outputs


def kind_of_norm(module: Any, width: int) -> str:
    """ "LayerNorm" for a norm that takes the mean away (arXiv:1607.06450), else "RMSNorm" (arXiv:1910.07467).

    The first does not notice when one number is added to every channel. "" for a module that cannot be asked.

    >>> kind_of_norm(torch.nn.LayerNorm(6), 6), kind_of_norm(torch.nn.RMSNorm(6), 6)
    ('LayerNorm', 'RMSNorm')
    """
    vector = torch.linspace(-1, 2, width).unsqueeze(0)
    with torch.inference_mode():
        try:
            plain, shifted = module(vector.clone()), module(vector + 5)
        except BROKEN:
            return ""
    if not isinstance(plain, Tensor) or not isinstance(shifted, Tensor):
        return ""
    moved = float((plain - shifted).abs().max())
    return "LayerNorm" if moved <= 1e-3 * float(plain.abs().max()) else "RMSNorm"
