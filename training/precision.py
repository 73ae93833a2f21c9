"""Where a run computes, and in which numbers."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass

import torch

from inference.errors import UserError


@dataclass(frozen=True)
class Precision:
    """A device, and whether its matrix products are in bfloat16; weights and optimiser stay float32."""

    device: torch.device
    bf16: bool

    def autocast(self) -> AbstractContextManager[None]:
        """Products in bfloat16 where that was chosen."""
        return torch.autocast(self.device.type, torch.bfloat16, enabled=self.bf16)


def precision(name: str) -> Precision:
    """A GPU if there is one; "bf16", "fp32", or "auto": bfloat16 where the device multiplies it in hardware."""
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if name not in ("auto", "bf16", "fp32"):
        raise UserError(f'The precision is "{name}". It can be "auto", "bf16" or "fp32".')
    return Precision(device, name == "bf16" or (name == "auto" and _multiplies_bf16(device)))


def _multiplies_bf16(device: torch.device) -> bool:
    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    return bool(torch.cpu._is_avx512_bf16_supported())  # so does every processor with AMX  # noqa: SLF001  # torch asks the processor nowhere else
