"""A GGUF file made into the files that models are otherwise read from: safetensors, configuration, tokenizer.

transformers reads GGUF files by itself, but goes through their vocabulary several times in Python and unpacks every
weight, at each start. Here that is done once.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from inference.files.checkpoint import WEIGHTS


def convert(gguf: Path, folder: Path) -> None:
    """Writes SmolLM2 from its GGUF file into an empty folder, the unpacked weights rounded to float16.

    The caller holds ``building.BUILDING``, as whoever builds a model does. Raises what transformers raises.
    """
    import torch
    from safetensors.torch import save_file
    from transformers import AutoConfig, AutoModelForCausalLM, GenerationConfig

    given: dict[str, Any] = {"gguf_file": gguf.name, "local_files_only": True}
    _tokenizer(gguf, given).save_pretrained(folder)
    config = AutoConfig.from_pretrained(str(gguf.parent), **given)
    model = AutoModelForCausalLM.from_pretrained(str(gguf.parent), dtype=torch.float16, **given)
    tied = set(model.all_tied_weights_keys)  # the head's, which are the embedding's
    weights = {name: weight.contiguous() for name, weight in model.state_dict().items() if name not in tied}
    save_file(weights, folder / WEIGHTS, metadata={"format": "pt"})
    config.architectures = [type(model).__name__]
    config.save_pretrained(folder)
    GenerationConfig.from_model_config(config).save_pretrained(folder)


def _tokenizer(gguf: Path, given: dict[str, Any]) -> Any:
    """The file's tokenizer, which takes each digit by itself before it cuts as GPT-2 does.

    The file says so ("smollm"), but transformers reads every byte-level vocabulary as GPT-2's: " " and "  1" would
    come out in other pieces than those that the model was trained on.
    """
    from tokenizers import pre_tokenizers
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(str(gguf.parent), **given)
    inner = tokenizer.backend_tokenizer
    digits = pre_tokenizers.Digits(individual_digits=True)
    inner.pre_tokenizer = pre_tokenizers.Sequence([digits, inner.pre_tokenizer])
    return tokenizer
