"""Models to fine-tune: a base model with a new head, or a small character model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import transformers
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import BertConfig, PreTrainedTokenizerFast

from i18n import gettext_lazy
from inference.errors import UserError, as_user_error
from inference.files import architecture, checkpoint, sources
from inference.files.checkpoint import refuse_too_large
from inference.load import loading
from inference.load.length_limits import position_limit
from inference.load.shared_weights import measure_on_meta
from inference.loaded_model import BUILDING
from inference.record import capture
from inference.settings import Settings, free_memory
from inference.task_heads import TOKENIZER
from probing.labelled.labeled_texts import HeadKind
from training.finetune.settings import CHARACTERS

AUTO = {
    "classify": transformers.AutoModelForSequenceClassification,
    "tag": transformers.AutoModelForTokenClassification,
    "answer": transformers.AutoModelForQuestionAnswering,
}
_HEADS = {
    "classify": gettext_lazy("no text-classification head"),
    "tag": gettext_lazy("no token-classification head"),
    "answer": gettext_lazy("no question-answering head"),
}
_BYTES = 20  # bytes per parameter: weight, gradient, two moments of AdamW, and the copy for snapshots


@dataclass(frozen=True)
class FinetuneStart:
    """The initial model of a fine-tuning run, in float32 and with a task head, and its tokenizer."""

    model: Any
    tokenizer: Any
    name: str
    longest: int | None  # number of positions; None for no limit
    fresh: bool = False  # True if all weights are randomly initialised


def open_model(  # noqa: PLR0913  # the model, its head, its seed, and the settings of the machine
    name: str, kind: HeadKind, labels: Sequence[str], seed: int, settings: Settings, revision: str | None = None
) -> FinetuneStart:
    """Load a model with a task head for ``kind``, with an output for each of ``labels``.

    If the checkpoint has a head of the same size, its weights are used; otherwise the head is random, drawn by the
    seed. Raise UserError if the model cannot be fine-tuned.
    """
    source = sources.find(name, revision, settings)
    files = checkpoint.inspect(source.folder, source.name)
    if files.gguf is not None:
        raise UserError(
            gettext_lazy(
                "{name} has GGUF weights, which cannot be trained. Pick another model.",
                name=source.name,
            )
        )
    shape = architecture.read(files.config, source.name)
    if shape.kind == "encoder-decoder":
        raise UserError(
            gettext_lazy("{name} reads one text and writes another. Pick an encoder or decoder.", name=source.name)
        )
    tokenizer = loading.load(source, settings, head=TOKENIZER).reader.tokenizer
    fits_words(tokenizer, source.name, kind)
    with BUILDING:
        config = _config(files, source.name, kind, labels)
        fill_up(tokenizer, config, source.name)
        model = _build_model(files, source.name, kind, config, seed, settings)
    if (largest := max(tokenizer.get_vocab().values())) >= (rows := model.get_input_embeddings().weight.shape[0]):
        raise UserError(
            gettext_lazy(
                "The tokenizer of {name} returns token {token}; the model has tokens 0 to {last}.",
                name=source.name,
                token=largest,
                last=rows - 1,
            )
        )
    return FinetuneStart(model, tokenizer, source.name, position_limit(model, tokenizer))


def fits_words(tokenizer: Any, name: str, kind: HeadKind) -> None:
    """Raise UserError if the task needs character offsets that the tokenizer cannot return.

    Only the tasks "tag" and "answer" (``kind``) need the positions of tokens in the text.
    """
    if kind == "answer" and not getattr(tokenizer, "is_fast", False):
        raise UserError(
            gettext_lazy(
                "The tokenizer of {name} does not locate its tokens in the text. Pick another model.",
                name=name,
            )
        )
    if kind == "tag" and not getattr(tokenizer, "is_fast", False):
        raise UserError(
            gettext_lazy(
                "The tokenizer of {name} does not locate its tokens in the text. Pick another model.",
                name=name,
            )
        )


def fill_up(tokenizer: Any, config: Any, name: str) -> None:
    """Set a padding token in a tokenizer and a configuration that have none, and pad on the right.

    The end-of-text token then also serves as padding, which is harmless because padded positions are masked. Raise
    UserError if the tokenizer has neither a padding token nor an end-of-text token.
    """
    inner = config.get_text_config()
    if tokenizer.pad_token_id is None:
        if tokenizer.eos_token_id is None:
            raise UserError(gettext_lazy("{name} has no padding token. Pick another model.", name=name))
        tokenizer.pad_token = tokenizer.eos_token
    if getattr(inner, "pad_token_id", None) is None:
        inner.pad_token_id = tokenizer.pad_token_id
    tokenizer.padding_side = "right"


def _config(files: checkpoint.Checkpoint, name: str, kind: HeadKind, labels: Sequence[str]) -> Any:
    """Load the model's configuration with the labels; raise UserError if there is no such head."""
    with as_user_error(
        gettext_lazy("The config.json of {name} is damaged or from another version. Pick another model.", name=name)
    ):
        config = transformers.AutoConfig.from_pretrained(
            str(files.folder),
            local_files_only=True,
            trust_remote_code=False,
            num_labels=len(labels),
            id2label=dict(enumerate(labels)),
            label2id={label: at for at, label in enumerate(labels)},
        )
    if type(config) not in AUTO[kind]._model_mapping:  # noqa: SLF001  # the only list of supported configurations
        raise UserError(
            gettext_lazy(
                "{name} ({model_type}) has {head}. Try BERT.",
                name=name,
                model_type=config.model_type,
                head=_HEADS[kind],
            )
        )
    if kind == "classify":
        config.problem_type = "single_label_classification"
    return config


def _build_model(  # noqa: PLR0913  # a step of open_model, with its results so far
    files: checkpoint.Checkpoint, name: str, kind: HeadKind, config: Any, seed: int, settings: Settings
) -> Any:
    """Load the model with its weights and a head drawn from the seed.

    Raise UserError if the model is too large or its weights do not fit its configuration.
    """
    capture.install()  # the model on the meta device uses the app's attention implementation
    with as_user_error(gettext_lazy("The weights of {name} do not fit its configuration. Replace them.", name=name)):
        parameters, implementation = measure_on_meta(config, AUTO[kind])
        refuse_too_large(name, parameters * _BYTES, min(settings.largest_model, free_memory()))
        torch.manual_seed(seed)
        model, info = AUTO[kind].from_pretrained(
            str(files.folder),
            config=config,
            attn_implementation=implementation,
            dtype=torch.float32,
            use_safetensors=True,
            local_files_only=True,
            trust_remote_code=False,
            ignore_mismatched_sizes=True,  # the stored head may have another number of labels
            output_loading_info=True,
        )
    base = f"{model.base_model_prefix}."
    missing = [key for key in info["missing_keys"] if key.startswith(base)]
    loading.refuse_misfit(
        name, type(model).__name__, missing, [key for key, *_ in info["mismatched_keys"] if key.startswith(base)]
    )
    return model


def reopen_model(folder: Path, kind: HeadKind) -> Any:
    """Load a fine-tuned model and its task head from a local folder by ``from_pretrained``."""
    return AUTO[kind].from_pretrained(folder, local_files_only=True, trust_remote_code=False, use_safetensors=True)


LAYERS, WIDTH, HEADS = 4, 256, 4
MOST = 8_000  # characters in the vocabulary
POSITIONS = 512
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


def start(texts: Iterable[str], kind: HeadKind, labels: Sequence[str], seed: int) -> FinetuneStart:
    """Build a small, randomly initialised BERT whose tokens are the characters of the texts.

    It has a head of the given kind for these labels.
    """
    words = tokenizer(texts)
    config = BertConfig(
        vocab_size=len(words),
        hidden_size=WIDTH,
        num_hidden_layers=LAYERS,
        num_attention_heads=HEADS,
        intermediate_size=4 * WIDTH,
        max_position_embeddings=POSITIONS,
        pad_token_id=words.pad_token_id,
        num_labels=len(labels),
        id2label=dict(enumerate(labels)),
        label2id={label: at for at, label in enumerate(labels)},
    )
    torch.manual_seed(seed)
    model: Any = AUTO[kind].from_config(config, dtype=torch.float32)
    return FinetuneStart(model, words, CHARACTERS, POSITIONS, fresh=True)


def tokenizer(texts: Iterable[str]) -> PreTrainedTokenizerFast:
    """Build a tokenizer with a token for every character that occurs more than once.

    NFKC normalisation and lower-casing map full and half width, and upper and lower case, to the same token.

    >>> words = tokenizer(["大家好", "大Ｈ好h"])
    >>> words.convert_ids_to_tokens(words("好 H家")["input_ids"])
    ['[CLS]', '好', 'h', '[UNK]', '[SEP]']
    """
    same = normalizers.Sequence([normalizers.NFKC(), normalizers.Lowercase()])
    seen = Counter(character for text in texts for character in same.normalize_str(text) if not character.isspace())
    kept = [character for character, count in seen.most_common(MOST) if count > 1]
    backend = Tokenizer(
        models.WordLevel({piece: at for at, piece in enumerate((*SPECIAL, *kept))}, unk_token=SPECIAL[1])
    )
    backend.normalizer = same
    backend.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Split(Regex("."), "isolated")]
    )
    backend.post_processor = processors.BertProcessing((SPECIAL[3], 3), (SPECIAL[2], 2))
    names = ("pad_token", "unk_token", "cls_token", "sep_token", "mask_token")
    return PreTrainedTokenizerFast(
        tokenizer_object=backend, model_max_length=POSITIONS, **dict(zip(names, SPECIAL, strict=True))
    )
