"""Next-sentence predictions against the model's own class with the same weights; class 0 means "it follows"."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
import transformers

from inference import LocalBackend
from inference.errors import UserError
from inference.files import embedded
from inference.settings import Settings
from inference.tasks.predictions import NEXT, ORDER, NextSentence, NextSentenceAnswer
from tests.support.cases import loop_over
from tests.support.tinyheads import EVERY, PAIRS, save
from tests.support.tinymodels import save as save_bare
from tests.support.tinymodels import wordpiece

A, B = "The cat sat on it.", "It was in the street."


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pairs")


@pytest.fixture(scope="module")
def backend(root: Path) -> LocalBackend:
    return LocalBackend(Settings(model_folders=(root,), offline=True, cache=root / "cache"))


def ask(
    backend: LocalBackend, root: Path, name: str = "BERT", text: str = A, pair: str = B, **more: Any
) -> NextSentenceAnswer:
    folder = root / name
    if not folder.exists():
        save(folder, name, head=1)
    return backend.predict(NextSentence(model=str(folder), text=text, pair=pair, **more))


@pytest.mark.slow
@loop_over("name", PAIRS)
@loop_over(("text", "pair"), [(A, B), (B, A)])
def test_equals_the_models_own_class(backend: LocalBackend, root: Path, name: str, text: str, pair: str) -> None:
    found = ask(backend, root, name, text, pair)
    network = getattr(transformers, EVERY[name].classes[1]).from_pretrained(root / name)
    tokenizer = transformers.AutoTokenizer.from_pretrained(root / name)
    # The unigram tokenizer returns no segment ids; the model then assumes zeros.
    with torch.inference_mode():
        output = network(**tokenizer(text, pair, return_tensors="pt"))
    scores = output.sop_logits if name == "ALBERT" else output.logits
    assert found.scores == pytest.approx(scores[0].tolist(), abs=1e-5)
    assert found.probability == pytest.approx(float(scores.softmax(-1)[0, 0]), abs=1e-5)
    assert found.judges == (ORDER if name == "ALBERT" else NEXT)
    assert len(found.row) == len(tokenizer(text, pair).input_ids)


@pytest.mark.slow
@pytest.mark.skipif(not embedded.own_here(embedded.BERT), reason="the BERT that was trained here is not there")
@pytest.mark.parametrize(("text", "pair"), [(A, B), (B, A)])
def test_our_own_bert_equals_its_class(backend: LocalBackend, text: str, pair: str) -> None:
    found = backend.predict(NextSentence(model=embedded.BERT, text=text, pair=pair))
    folder = embedded.own_folder(embedded.BERT)
    network = transformers.BertForNextSentencePrediction.from_pretrained(folder, dtype=torch.float32)
    with torch.inference_mode():
        logits = network(**transformers.AutoTokenizer.from_pretrained(folder)(text, pair, return_tensors="pt")).logits
    assert found.scores == pytest.approx(logits[0].tolist(), abs=1e-5)
    assert found.probability == pytest.approx(float(logits.softmax(-1)[0, 0]), abs=1e-5)


def test_every_class_for_pairs_is_tried(backend: LocalBackend, root: Path) -> None:
    """All pair classes of transformers and ALBERT's are tested; FNet is refused because it has no attention."""
    known = transformers.models.auto.modeling_auto.MODEL_FOR_NEXT_SENTENCE_PREDICTION_MAPPING_NAMES
    assert {*known, "albert"} - {EVERY[name].model_type for name in PAIRS} == {"fnet"}
    sizes = {"hidden_size": 24, "num_hidden_layers": 2, "intermediate_size": 20, "max_position_embeddings": 40}
    config = transformers.FNetConfig(vocab_size=120, **sizes)
    transformers.FNetForNextSentencePrediction(config).save_pretrained(root / "mixer")
    wordpiece(root / "mixer")
    with pytest.raises(UserError, match=r"^mixer \(fnet\)"):
        backend.predict(NextSentence(model=str(root / "mixer"), text=A, pair=B))


def test_class_0_is_the_one_that_training_calls_next(backend: LocalBackend, root: Path) -> None:
    """The loss of label 0, the actual next sentence, equals the loss of our probability."""
    found = ask(backend, root)
    network = transformers.BertForNextSentencePrediction.from_pretrained(root / "BERT")
    tokenizer = transformers.AutoTokenizer.from_pretrained(root / "BERT")
    given = tokenizer(A, B, return_tensors="pt")
    with torch.inference_mode():
        loss = network(**given, labels=torch.tensor([0])).loss
    assert found.probability == pytest.approx(float(torch.exp(-loss)), abs=1e-5)


def test_both_orders_differ(backend: LocalBackend, root: Path) -> None:
    one, other = ask(backend, root), ask(backend, root, text=B, pair=A)
    assert abs(one.scores[0] - other.scores[0]) > 1e-3


@pytest.mark.parametrize(
    ("text", "pair", "said"),
    [
        (A, "", r"The second text is empty\. Type a word or a sentence\."),
        (A, " \n", "second text is empty"),
        ("", B, "The text is empty"),
        ("a " * 30, "b " * 30, "has 63 tokens; BERT reads at most 40"),
        (A, "b\0", "control character"),
    ],
)
def test_odd_pairs(backend: LocalBackend, root: Path, text: str, pair: str, said: str) -> None:
    with pytest.raises(UserError, match=said):
        ask(backend, root, text=text, pair=pair)


def test_a_cut_pair(backend: LocalBackend, root: Path) -> None:
    assert len(ask(backend, root, text="a " * 30, pair="b " * 30, cut=20).row) == 20


def test_models_without_the_head(backend: LocalBackend, root: Path) -> None:
    save(root / "masked-only", "BERT")
    save_bare(root / "gpt2", "gpt2")
    for name in ("masked-only", "gpt2"):
        with pytest.raises(UserError, match=f"{name} has no next-sentence head"):
            backend.predict(NextSentence(model=str(root / name), text=A, pair=B))
