"""Conversion of a GGUF file to safetensors weights, a configuration and a tokenizer.

transformers can read GGUF files, but it iterates over their vocabulary several times in Python and unpacks every
weight at each start. This module does that once.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from inference.files.checkpoint import WEIGHTS


def convert(gguf: Path, folder: Path) -> None:
    """Convert SmolLM2 from its GGUF file into an empty folder, with the weights rounded to float16.

    The caller must hold ``building.BUILDING``, as for every built model. Exceptions of transformers propagate.
    """
    import torch
    from safetensors.torch import save_file
    from transformers import AutoConfig, AutoModelForCausalLM, GenerationConfig

    given: dict[str, Any] = {"gguf_file": gguf.name, "local_files_only": True}
    _tokenizer(gguf, given).save_pretrained(folder)
    config = AutoConfig.from_pretrained(str(gguf.parent), **given)
    model = AutoModelForCausalLM.from_pretrained(str(gguf.parent), dtype=torch.float16, **given)
    tied = set(model.all_tied_weights_keys)  # the head's weights equal the embedding's
    weights = {name: weight.contiguous() for name, weight in model.state_dict().items() if name not in tied}
    save_file(weights, folder / WEIGHTS, metadata={"format": "pt"})
    config.architectures = [type(model).__name__]
    config.save_pretrained(folder)
    GenerationConfig.from_model_config(config).save_pretrained(folder)


def _tokenizer(gguf: Path, given: dict[str, Any]) -> Any:
    """Return the file's tokenizer, which splits off each digit before GPT-2's pre-tokenisation.

    The file asks for that ("smollm"), but transformers reads every byte-level vocabulary as GPT-2's: " " and "  1"
    would be tokenised differently than in training.
    """
    from tokenizers import pre_tokenizers
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(str(gguf.parent), **given)
    inner = tokenizer.backend_tokenizer
    digits = pre_tokenizers.Digits(individual_digits=True)
    inner.pre_tokenizer = pre_tokenizers.Sequence([digits, inner.pre_tokenizer])
    return tokenizer
