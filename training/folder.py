"""The first and the last steps of every exported model: its weights, files that all may read, and their sums."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from inference.files import checksums

SCORES = "evaluation.json"


def save_half(model: Any, folder: Path) -> None:
    """Writes weights in half precision, and a configuration by which transformers opens them in float32.

    That holds them exactly, and computes with more digits; without it, what is stored is what they open in.
    """
    model.half().save_pretrained(folder)
    model.config.dtype = torch.float32
    model.config.save_pretrained(folder)


def write_checksums(folder: Path) -> None:
    """Makes the folder's files readable and writes their sums."""
    files = [file for file in folder.iterdir() if file.is_file() and file.name != checksums.SUMS]
    for file in files:
        file.chmod(0o644)  # safetensors writes for its owner only
    checksums.write(folder, [file.name for file in files])
