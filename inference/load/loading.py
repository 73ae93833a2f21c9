"""Loading of weights from verified files into a model that records its attention.

No other module loads weights. If a checkpoint lacks the weights of a task head, transformers initialises them at random
and the predictions look real. A checkpoint without these weights is therefore refused.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from typing import Any

from attention.trace import ModelId
from i18n import gettext_lazy
from inference.catalogue.listing import refusal
from inference.errors import UserError, as_user_error
from inference.files import architecture, checkpoint, packages
from inference.files.architecture import Architecture, refuse_unknown_tokenizer
from inference.files.checkpoint import refuse_too_large, tensors
from inference.files.sources import ModelSource
from inference.load.length_limits import patch_limit, token_limit
from inference.loaded_model import BUILDING, LoadedModel, release_memory, silence_transformers
from inference.pictures import image_processing
from inference.pictures.image_processing import BOTH, PICTURES, TEXT, ImageProcessor
from inference.settings import Settings, free_memory
from inference.task_heads import (
    ANSWER,
    BARE,
    CAUSAL,
    CLASSIFY,
    KINDS,
    MASKED,
    NEXT_SENTENCE,
    RANDOM,
    SEES,
    TAG,
    TOKENIZER,
    TRAINED_AS,
)
from inference.text import tokenizer
from inference.text.tokenizer import NoText, SafeTokenizer, refuse_without_tokenizer

log = logging.getLogger(__name__)

_NO_LIMIT = 10**9  # tokens; without the weights there is no limit on a text
_ENTRY_BYTES = 500  # the approximate memory for an entry of a vocabulary
# A bare model may lack these weights, because they do not affect the attention.
_HARMLESS = re.compile(r"(^|\.)(pooler|sequence_summary)\.|position_ids$|final_logits_bias$|inv_freq$")


def load(
    source: ModelSource, settings: Settings, make_room: Callable[[int], None] = lambda _nbytes: None, head: str = BARE
) -> LoadedModel:
    """Load the model of a folder in float32; raise UserError if the weights do not fit the model or the memory.

    ``make_room`` is called with the bytes that the model will take, before they are allocated. ``head`` is a task head
    of inference.task_heads.
    """

    def fit(parameters: int) -> None:
        needed = max(files.memory_bytes, checkpoint.memory_needed(parameters))
        refuse_too_large(source.name, needed, settings.model_memory_bytes)  # checked before other models are evicted
        make_room(needed)
        if needed > free_memory():
            release_memory()  # frees the evicted models
        refuse_too_large(source.name, needed, free_memory())

    files = checkpoint.inspect(source.folder, source.name)
    refuse_too_large(source.name, files.memory_bytes, settings.model_memory_bytes)
    with BUILDING:
        set_threads(settings)
        config = files.config if files.gguf is None else _gguf_config(files, source.name)
        shape = architecture.read(config, source.name)
        tokenizer = None if shape.reads == PICTURES else _tokenizer(files, source.name)
        if head == TOKENIZER:
            return _tokenizer_only(source, shape, tokenizer)
        processor = None if shape.reads == TEXT else image_processing.processor(files.folder, source.name)
        model, records = build_model(files, shape, source.name, fit, head, settings)
        if source.revision is None:
            _take_in(model)
    release_memory()
    budget = settings.trace_memory_bytes
    return LoadedModel(
        model=model,
        reader=_reader(model, tokenizer, source.name, shape),
        id=ModelId(source.name, source.revision, shape.kind, type(model).__name__, _weights(source, files, head)),
        limit=token_limit(model, tokenizer, records, budget),
        nbytes=sum(t.nbytes for group in (model.parameters(), model.buffers()) for t in group),
        records=records,
        writes=shape.writes,
        gguf="" if files.gguf is None or head == RANDOM else files.gguf.name,
        reads=shape.reads,
        eye=None if processor is None else _build_image_processor(processor, source.name, model, budget),
    )


def _take_in(model: Any) -> None:
    """Copy the weights into memory, because until then they are the memory-mapped file.

    A truncated file would crash this process, and an overwritten file would change the model's results. Files of a
    hub commit are not overwritten, and are read in a separate process (serving/model_process.py).
    """
    for tensor in (*model.parameters(), *model.buffers()):
        tensor.data = tensor.data.clone()


def _build_image_processor(processor: Any, name: str, model: Any, budget: int) -> ImageProcessor:
    """Return the image processor of a model; raise UserError if it does not fit the configuration."""
    with as_user_error(
        gettext_lazy(
            "The weights of {name} do not fit its configuration. Replace them.",
            name=name,
        )
    ):
        return ImageProcessor(processor, name, model.config, patch_limit(model, budget))


def _reader(model: Any, tokenizer: Any, name: str, shape: architecture.Architecture) -> SafeTokenizer:
    """Return the tokenizer, or a stand-in that refuses every text if the model reads no text."""
    if tokenizer is None:
        return NoText(name)
    texts = model.text_model if shape.reads == BOTH else model
    rows = int(texts.get_input_embeddings().weight.shape[0])
    return SafeTokenizer(tokenizer, name, shape.kind, rows, _target_rows(model, rows))


def _weights(source: ModelSource, files: checkpoint.Checkpoint, head: str) -> str | None:
    """Return the hash of the weights if no commit identifies them, else None.

    Random weights have no file, so None is returned for them too.
    """
    return None if source.revision is not None or head == RANDOM else packages.of_weights(files.weights)


def _target_rows(model: Any, rows: int) -> int:
    """Return the rows of the output embedding.

    Some translators have separate source and target vocabularies.
    """
    if not model.config.is_encoder_decoder:
        return rows
    head = model.get_output_embeddings()
    table = model.get_decoder().get_input_embeddings() if head is None else head
    return int(table.weight.shape[0])


def _tokenizer_only(source: ModelSource, shape: architecture.Architecture, tokenizer: Any) -> LoadedModel:
    """Return a model with only its tokenizer, without weights; raise UserError if it reads no text."""
    if tokenizer is None:
        raise refuse_without_tokenizer(source.name)
    rows = 1 + max(tokenizer.get_vocab().values())
    return LoadedModel(
        model=None,
        reader=SafeTokenizer(tokenizer, source.name, shape.kind, rows),
        id=ModelId(source.name, source.revision, shape.kind, shape.name),
        limit=_NO_LIMIT,
        nbytes=_ENTRY_BYTES * rows,
        records=False,
        writes=shape.writes,
    )


def build_model(  # noqa: PLR0913  # a step of load, which passes its intermediate results
    files: checkpoint.Checkpoint,
    shape: architecture.Architecture,
    name: str,
    fit: Callable[[int], None],
    head: str,
    settings: Settings,
) -> tuple[Any, bool]:
    """Load a model with the task head ``head``.

    Return the model, and True if its queries, keys and values can be recorded. ``files`` are the model's checked files,
    and ``shape`` is its architecture. ``fit`` is called with the model's number of parameters before memory for them is
    allocated.
    """
    import torch
    import transformers

    from inference.load import shared_weights
    from inference.load.shared_weights import measure_on_meta, prepare
    from inference.record import capture

    silence_transformers()
    capture.install()
    auto = auto_class(head, shape.writes, shape.model_type)
    extra: dict[str, Any] = {"gguf_file": files.gguf.name} if files.gguf else {"use_safetensors": True}
    with as_user_error(
        gettext_lazy(
            "The weights of {name} do not fit its configuration. Replace them.",
            name=name,
        )
    ):
        config = transformers.AutoConfig.from_pretrained(
            str(files.folder), local_files_only=True, trust_remote_code=False, **({} if files.config else extra)
        )
        check_weights(head, shape, config, files.weights, name, settings)
        parameters, implementation = measure_on_meta(config, auto)
        fit(parameters)  # the configuration determines the memory, independent of the file sizes
        if head == RANDOM:
            model, info = (
                shared_weights.init_random_model(auto, config, implementation),
                {"missing_keys": (), "mismatched_keys": ()},
            )
        else:
            model, info = auto.from_pretrained(
                str(files.folder),
                attn_implementation=implementation,
                dtype=torch.float32,
                local_files_only=True,
                trust_remote_code=False,
                output_loading_info=True,
                **extra,
            )
    if head != BARE and is_made_up(head, model, info["missing_keys"]):
        raise refusal(head, name, settings)
    allow_batches(head, model)
    refuse_misfit(name, shape.name, info["missing_keys"], info["mismatched_keys"])
    return model, prepare(model, way_out="embedded")


def refuse_misfit(name: str, class_name: str, missing: Iterable[str], mismatched: Iterable[object]) -> None:
    """Raise UserError if weights of the checkpoint are missing or have wrong shapes.

    Otherwise transformers would use random weights, and the maps would be meaningless.
    """
    lacking = sorted(key for key in missing if not _HARMLESS.search(key))
    if lacking or any(True for _ in mismatched):
        what = (
            gettext_lazy(
                "{lacking} of its tensors are missing, such as {first}", lacking=len(lacking), first=lacking[0]
            )
            if lacking
            else gettext_lazy("shapes differ")
        )
        raise UserError(
            gettext_lazy(
                "The weights of {name} do not fit {class_name}: {what}. Pick another model.",
                name=name,
                class_name=class_name,
                what=what,
            ),
            way_out="embedded",
        )


def _tokenizer(files: checkpoint.Checkpoint, name: str) -> Any:
    from transformers import AutoTokenizer

    refuse_unknown_tokenizer(files.folder, files.config, name)
    extra = {"gguf_file": files.gguf.name} if files.gguf else {}
    with as_user_error(
        gettext_lazy(
            "The tokenizer of {name} is damaged or needs other packages. Replace it.",
            name=name,
        )
    ):
        tokenizer = AutoTokenizer.from_pretrained(
            str(files.folder), local_files_only=True, trust_remote_code=False, **extra
        )
        ordinary = len(tokenizer.get_vocab()) - len(set(tokenizer.all_special_tokens))
    if ordinary < 1:  # if files are missing, transformers builds a tokenizer with special tokens only
        raise UserError(gettext_lazy("{name} has no vocabulary. Add its tokenizer.json.", name=name))
    return tokenizer


def _gguf_config(files: checkpoint.Checkpoint, name: str) -> dict[str, Any]:
    from transformers import AutoConfig

    file = files.gguf.name if files.gguf else None
    with as_user_error(gettext_lazy("{name} is damaged: its {file} cannot be read. Replace it.", name=name, file=file)):
        config = AutoConfig.from_pretrained(str(files.folder), gguf_file=file)
        return dict(config.to_dict())


def set_threads(settings: Settings) -> None:
    """Set the number of threads that torch uses per forward pass, for the whole process."""
    import torch

    if torch.get_num_threads() != settings.forward_threads:
        torch.set_num_threads(settings.forward_threads)


_OLD = {".gamma": ".weight", ".beta": ".bias"}  # names of a norm's weights in checkpoints of 2018


def auto_class(head: str, writes: bool, model_type: str = "") -> Any:
    """Return the class of transformers that loads a model with a task head, such as AutoModelForMaskedLM.

    ``head`` is the task head. ``writes`` is True if the model without a task head generates a target text.
    """
    import transformers

    if head in (BARE, RANDOM):
        return transformers.AutoModelForSeq2SeqLM if writes else transformers.AutoModel
    if head == NEXT_SENTENCE and model_type == "albert":  # ALBERT predicts the order of two texts (arXiv:1909.11942)
        return transformers.AutoModelForPreTraining
    return {
        MASKED: transformers.AutoModelForMaskedLM,
        NEXT_SENTENCE: transformers.AutoModelForNextSentencePrediction,
        CAUSAL: transformers.AutoModelForCausalLM,
        CLASSIFY: transformers.AutoModelForSequenceClassification,
        TAG: transformers.AutoModelForTokenClassification,
        ANSWER: transformers.AutoModelForQuestionAnswering,
        SEES: transformers.AutoModelForImageClassification,
    }[head]


def check_weights(  # noqa: PLR0913  # the model's properties, and those that the error names
    head: str, shape: Architecture, config: Any, weights: Iterable[Path], name: str, settings: Settings
) -> None:
    """Raise UserError if a checkpoint has none of the weights of a task head.

    The message lists models with the head. ``config`` is the configuration of transformers, and ``weights`` are the
    safetensors files. GGUF files are not checked, because their tensor names are unknown before loading. If only some
    weights of a head are missing, ``is_made_up`` finds them after loading.
    """
    if head in (BARE, RANDOM):
        return
    if shape.reads == PICTURES and head != SEES:
        raise tokenizer.refuse_without_tokenizer(name)
    if head == SEES and shape.reads != PICTURES:
        raise refusal(head, name, settings)
    if head in TRAINED_AS:
        _check_trained_as(head, shape, config, name, settings)
    auto = auto_class(head, shape.writes, shape.model_type)
    if shape.kind not in KINDS[head] or type(config) not in auto._model_mapping:  # noqa: SLF001  # there is no public list of the supported configurations
        raise refusal(head, name, settings)
    there = tensors(file for file in weights if file.suffix == ".safetensors")
    own = _head_only_weights(_build_on_meta(auto, config))
    if there and own and set(missing_weights(auto, config, there)) == set(own):
        raise refusal(head, name, settings)


def _check_trained_as(head: str, shape: Architecture, config: Any, name: str, settings: Settings) -> None:
    """Raise UserError if the configuration does not name a class with a head for labels."""
    named = getattr(config, "architectures", None) or ()
    if not any(str(one).endswith(TRAINED_AS[head]) for one in named):
        raise refusal(head, name, settings)
    if shape.kind == "encoder-decoder":
        raise UserError(
            gettext_lazy("{name} reads one text and writes another. Pick an encoder or decoder.", name=name)
        )


def allow_batches(head: str, model: Any) -> None:
    """Allow a decoder with a classification head to read batches of samples of equal length.

    Such a head classifies at the last token that is not padding, and refuses batches if no padding token is configured.
    The padding token is set to an id that no token has, so that all tokens are read.
    """
    inner = model.config.get_text_config()
    if head == CLASSIFY and getattr(inner, "pad_token_id", None) is None:
        inner.pad_token_id = -1


def is_made_up(head: str, model: Any, missing: Iterable[str]) -> list[str]:
    """Return the names of a task head's weights that the checkpoint lacks and that are therefore random.

    ``missing`` are all weights that the checkpoint lacks. The pooler counts, too: it belongs to the bare model, but
    classification heads read its output.
    """
    base = f"{model.base_model_prefix}."
    judges = head in (NEXT_SENTENCE, CLASSIFY, SEES)
    return sorted(key for key in missing if not key.startswith(base) or (judges and ".pooler." in key))


def missing_weights(auto: Any, config: Any, names: Collection[str]) -> list[str]:
    """Return the names of a task head's weights that are not among the tensor ``names`` of a checkpoint.

    ``auto`` is the class of transformers that builds the model with the head.

    >>> import transformers
    >>> config = transformers.BertConfig(num_hidden_layers=1)
    >>> missing_weights(transformers.AutoModelForNextSentencePrediction, config, ["cls.seq_relationship.weight"])
    ['cls.seq_relationship.bias']
    """
    model = _build_on_meta(auto, config)
    there = {_rename_tensor(name) for name in names} | _as_loaded(model, names)
    return sorted(set(_head_only_weights(model)) - there)


def _build_on_meta(auto: Any, config: Any) -> Any:
    """Build the model with a head on the meta device, without weights."""
    import torch

    with torch.device("meta"):
        return auto.from_config(config, trust_remote_code=False)


def _head_only_weights(model: Any) -> list[str]:
    """Return the names of a head's own weights, which neither belong to the bare model nor are tied."""
    base = f"{model.base_model_prefix}."
    tied = set(getattr(model, "all_tied_weights_keys", None) or {})
    return [key for key, _ in model.named_parameters() if not key.startswith(base) and key not in tied]


def _as_loaded(model: Any, names: Collection[str]) -> set[str]:
    """Return a checkpoint's tensor names after transformers' renaming, as for GPT-NeoX's head."""
    from transformers.conversion_mapping import get_model_conversion_mapping
    from transformers.core_model_loading import WeightRenaming

    changes = [change for change in get_model_conversion_mapping(model) if isinstance(change, WeightRenaming)]
    return {change.rename_source_key(name)[0] for change in changes for name in names}


def _rename_tensor(tensor: str) -> str:
    for old, new in _OLD.items():
        if tensor.endswith(old):
            return tensor.removesuffix(old) + new
    return tensor
