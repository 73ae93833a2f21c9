"""Labels of texts and of words against transformers' own classes, for every family."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers

from attention.edits import Ablate
from inference import LocalBackend, UserError
from inference.catalogue.listing import catalogue
from inference.runners import edit_batches
from inference.runners.edit_effects import answer as effects_of
from inference.settings import Settings
from inference.task_heads import CLASSIFY, MASKED, TAG, WHAT
from inference.tasks.edit_effects import LabelEffects
from inference.tasks.labels import (
    CHOICE,
    EACH,
    NUMBER,
    LabelAnswer,
    LabelGradients,
    LabelPath,
    TextLabel,
    WordTags,
)
from inference.tasks.predictions import MaskedWords
from tests.support.cases import loop_over
from tests.support.present import present
from tests.support.tinyheads import save as save_masked
from tests.support.tinylabels import DECODERS, FAMILIES, NAMES, save
from tests.support.tinymodels import save as save_bare

TEXT, OTHER = "the animal was a cat", "it played"
SETS = ((), (Ablate(0, 1),), (Ablate(1, 2),), (Ablate(0, 0), Ablate(0, 1), Ablate(1, 2)), ())
CLASSES = {CLASSIFY: transformers.AutoModelForSequenceClassification,
           TAG: transformers.AutoModelForTokenClassification}  # fmt: skip


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("labels")


@pytest.fixture(scope="module")
def backend(root: Path) -> LocalBackend:
    return LocalBackend(Settings(model_folders=(root,), offline=True, cache=root / "cache"))


def folder_of(root: Path, name: str, head: str = CLASSIFY) -> str:
    folder = root / f"{name} {head}"
    return str(folder if folder.exists() else save(folder, name, head))


def plain(folder: str, head: str, said: LabelAnswer, **more: Any) -> Any:
    """Return the logits of transformers' own class in float32 for the same tokens."""
    model = CLASSES[head].from_pretrained(folder, dtype=torch.float32).eval()
    with torch.inference_mode():
        return model(input_ids=torch.tensor([said.row.ids]), **more).logits[0].numpy()


@pytest.mark.slow
@loop_over("name", FAMILIES)
def test_a_text_s_logits_are_those_of_the_library_s_class(backend: LocalBackend, root: Path, name: str) -> None:
    folder = folder_of(root, name)
    said = backend.predict(TextLabel(folder, text=TEXT))
    np.testing.assert_allclose(said.logits, plain(folder, CLASSIFY, said)[None], atol=1e-5)
    assert said.names == NAMES
    assert np.ptp(said.logits) > 1e-2
    np.testing.assert_allclose(present(said.probabilities).sum(-1), 1, atol=1e-6)
    [place] = said.places
    assert place.run == (0, len(said.row))
    last = len(said.row)
    assert place.reads == ((last - 1, last) if name in DECODERS else (0, 1))


@pytest.mark.slow
@loop_over("name", [name for name in FAMILIES if name not in DECODERS] + ["GPT-2"])
def test_every_word_s_tag_is_that_of_its_first_piece(backend: LocalBackend, root: Path, name: str) -> None:
    folder = folder_of(root, name, TAG)
    said = backend.predict(WordTags(folder, text=TEXT))
    every = plain(folder, TAG, said)
    assert len(said.places) == len(TEXT.split())
    for place, logits, word in zip(said.places, said.logits, TEXT.split(), strict=True):
        first, _ = present(said.row.spans[place.reads[0]])
        assert TEXT[first:].startswith(word)
        np.testing.assert_allclose(logits, every[place.reads[0]], atol=1e-5)


def test_a_mean_over_all_pieces_reads_them_all(backend: LocalBackend, root: Path) -> None:
    folder = str(save(root / "mean", "ModernBERT", classifier_pooling="mean"))
    [place] = backend.predict(TextLabel(folder, text=TEXT)).places
    assert place.reads == place.run


def test_two_texts(backend: LocalBackend, root: Path) -> None:
    folder = folder_of(root, "BERT")
    said = backend.predict(TextLabel(folder, text=TEXT, pair=OTHER))
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    types = tokenizer(TEXT, OTHER, return_tensors="pt")["token_type_ids"]
    np.testing.assert_allclose(said.logits[0], plain(folder, CLASSIFY, said, token_type_ids=types), atol=1e-5)
    assert not np.allclose(said.logits, backend.predict(TextLabel(folder, text=TEXT)).logits, atol=1e-3)


# -- Types of labels


@loop_over(
    ("many", "problem", "sort"),
    [(1, None, NUMBER), (2, None, CHOICE), (3, "regression", NUMBER), (3, "multi_label_classification", EACH),
     (1, "multi_label_classification", EACH), (2, "single_label_classification", CHOICE)],
)  # fmt: skip
def test_how_labels_are_meant(backend: LocalBackend, root: Path, many: int, problem: str | None, sort: str) -> None:
    folder = str(save(root / f"{many} {problem}", labels=NAMES[:many], problem_type=problem))
    said, told = backend.predict(TextLabel(folder, text=TEXT)), backend.predict(LabelEffects(folder, text=TEXT))
    assert said.sort == sort
    assert (told.values == said.logits).all()
    if sort == NUMBER:
        assert said.probabilities is None
        assert told.top == ((),)
        return
    each = 1 / (1 + np.exp(-said.logits)) if sort == EACH else np.exp(said.logits) / np.exp(said.logits).sum()
    np.testing.assert_allclose(present(said.probabilities), each, atol=1e-6)
    name, probability = told.top[0][0]
    assert name == said.names[said.likeliest(0)]
    assert probability == pytest.approx(float(each.max()), abs=1e-6)


def test_labels_are_text_whatever_stands_there(backend: LocalBackend, root: Path) -> None:
    names = ("<script>alert(1)</script>", "a\n\x1b[31mb", "x" * 5000, "x" * 5000, "", "\u202egood")
    said = backend.predict(TextLabel(str(save(root / "hostile", labels=names)), text=TEXT))
    assert said.names[0] == names[0], "shown as text, so nothing is changed in it"
    assert said.names[1:] == ("a??[31mb", "x" * 60, "x" * 60 + " (3)", "label 4", "?good")


# -- Refusals


@pytest.mark.parametrize("head", [CLASSIFY, TAG])
def test_a_model_without_the_head_is_refused(backend: LocalBackend, root: Path, head: str) -> None:
    question: Any = TextLabel if head == CLASSIFY else WordTags
    others = [str(save_masked(root / "filler", "BERT")), str(save_bare(root / "gpt2", "gpt2")), "all-MiniLM-L6-v2",
              folder_of(root, "DistilBERT", TAG if head == CLASSIFY else CLASSIFY)]  # fmt: skip
    for model in others:
        with pytest.raises(UserError, match=f"{WHAT[head]}.*Fine-tuning") as caught:
            backend.predict(question(model, text=TEXT))
        assert caught.value.way_out == "head"
    with pytest.raises(UserError, match=WHAT[MASKED]):
        backend.predict(MaskedWords(folder_of(root, "BERT"), text="a [MASK]"))


def test_a_pooler_that_is_not_there_is_no_head(backend: LocalBackend, root: Path) -> None:
    from safetensors.torch import load_file, save_file

    folder = save(root / "halved")
    kept = {name: value for name, value in load_file(folder / "model.safetensors").items() if "pooler" not in name}
    save_file(kept, folder / "model.safetensors", {"format": "pt"})
    with pytest.raises(UserError, match=f"halved has {WHAT[CLASSIFY]}"):
        backend.predict(TextLabel(str(folder), text=TEXT))


@pytest.mark.slow
def test_a_model_that_writes_is_refused_in_true_words(backend: LocalBackend, root: Path) -> None:
    folder = save_bare(root / "t5", "t5")
    config = transformers.AutoConfig.from_pretrained(folder)
    transformers.T5ForSequenceClassification(config).save_pretrained(folder)
    with pytest.raises(UserError, match=r"^t5 reads"):
        backend.predict(TextLabel(str(folder), text=TEXT))


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ({"text": ""}, "The text is empty"),
        ({"edits": ((Ablate(2, 0),),)}, "has 2 layers of 3 heads"),
    ],
)
def test_what_cannot_be_asked(backend: LocalBackend, root: Path, more: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UserError, match=sentence):
        backend.predict(LabelEffects(folder_of(root, "BERT"), **{"text": TEXT, **more}))


def test_a_label_or_a_token_that_is_not_there(backend: LocalBackend, root: Path) -> None:
    with pytest.raises(UserError, match=r"label 4\b.* has 4\b"):
        backend.predict(LabelPath(folder_of(root, "BERT"), text=TEXT, label=4))
    with pytest.raises(UserError, match="Token 99"):
        backend.predict(LabelEffects(folder_of(root, "BERT", TAG), text=TEXT, at=99))


def test_the_list_says_which_models_have_which(backend: LocalBackend, root: Path) -> None:
    one, other, decoder = folder_of(root, "BERT"), folder_of(root, "BERT", TAG), folder_of(root, "GPT-2")
    heads = {card.id: card.heads for card in catalogue(backend.settings)}
    assert (heads[one], heads[other], heads[decoder]) == ((CLASSIFY,), (TAG,), (CLASSIFY,))


# -- Effects of edits


@pytest.mark.parametrize(
    ("name", "at"), [("BERT", None), ("BERT", 2), ("ModernBERT", None), ("Llama", None), ("GPT-2", None), ("GPT-2", 2)]
)
def test_effects_are_those_of_passes_of_their_own(
    backend: LocalBackend, root: Path, monkeypatch: pytest.MonkeyPatch, name: str, at: int | None
) -> None:
    folder, head = folder_of(root, name, CLASSIFY if at is None else TAG), CLASSIFY if at is None else TAG
    question = LabelEffects(folder, text=TEXT, at=at, edits=SETS)
    told = backend.predict(question)
    logits = plain(folder, head, backend.predict((TextLabel if at is None else WordTags)(folder, text=TEXT)))
    np.testing.assert_allclose(told.values[0], logits if at is None else logits[at], atol=1e-5)
    # On some processors, rounding depends on the position of a sample in its batch.
    np.testing.assert_allclose(told.values[4], told.values[0], atol=1e-6, err_msg="nothing changed")
    assert len(set(told.values[:4, 0].round(4))) == 4, "every edit changes something"
    assert told.names == NAMES
    one_by_one = [backend.predict(LabelEffects(folder, text=TEXT, at=at, edits=(mine,))) for mine in SETS]
    np.testing.assert_allclose(told.values, np.concatenate([one.values for one in one_by_one]), atol=1e-5)
    monkeypatch.setattr(edit_batches, "MOST_TOKENS", 1)
    again = effects_of(backend.loaded(folder, None, head), question)
    np.testing.assert_allclose(told.values, again.values, atol=1e-5)


def test_no_edits_change_nothing_bit_for_bit(backend: LocalBackend, root: Path) -> None:
    for name in ("BERT", "GPT-2", "ModernBERT"):
        folder = folder_of(root, name)
        said = backend.predict(TextLabel(folder, text=TEXT))
        told = backend.predict(LabelEffects(folder, text=TEXT))
        assert (told.values == said.logits).all()


def test_without_any_head_the_words_do_not_matter(backend: LocalBackend, root: Path) -> None:
    folder = folder_of(root, "BERT")
    none = tuple(Ablate(layer, head) for layer in range(2) for head in range(3))
    one, other = (backend.predict(LabelEffects(folder, text=text, edits=(none,))).values for text in (TEXT, OTHER))
    np.testing.assert_allclose(one, other, atol=1e-6)


# -- Attribution of labels


def logit(folder: str, head: str, at: int | None, label: int, vectors: Any) -> Any:
    model = CLASSES[head].from_pretrained(folder, dtype=torch.float32).eval()
    found = model(inputs_embeds=vectors).logits
    return (found if at is None else found[:, at])[:, label]


@pytest.mark.parametrize(("name", "at"), [("BERT", None), ("BERT", 2), ("Llama", None)])
def test_gradients_are_torch_s_own(backend: LocalBackend, root: Path, name: str, at: int | None) -> None:
    head = CLASSIFY if at is None else TAG
    folder = folder_of(root, name, head)
    found = backend.predict(LabelGradients(folder, text=TEXT, at=at, label=2)).values
    loaded = backend.loaded(folder, None, head)
    ids = torch.tensor([loaded.reader.read(TEXT, None, 40, None).ids])
    vectors = loaded.model.get_input_embeddings()(ids).detach().requires_grad_()
    [gradient] = torch.autograd.grad(logit(folder, head, at, 2, vectors).sum(), vectors)
    np.testing.assert_allclose(found, gradient[0].norm(dim=-1), rtol=1e-3)
    assert found.max() > 1e-3


@pytest.mark.parametrize("at", [None, 2])
def test_the_path_adds_up_to_what_the_logit_rises_by(backend: LocalBackend, root: Path, at: int | None) -> None:
    head = CLASSIFY if at is None else TAG
    folder = str(save(root / f"gentle {at}", "BERT", head))
    told = backend.predict(LabelPath(folder, text=TEXT, at=at, label=3, steps=200))
    loaded = backend.loaded(folder, None, head)
    ids = torch.tensor([loaded.reader.read(TEXT, None, 40, None).ids])
    with torch.no_grad():
        vectors = loaded.model.get_input_embeddings()(ids)
        end, start = (float(logit(folder, head, at, 3, given)) for given in (vectors, 0 * vectors))
    assert told.rise == pytest.approx(end - start, abs=1e-4)
    assert told.values.sum() - told.missed == pytest.approx(end - start, abs=1e-4)
    assert abs(told.missed) < 0.02 * abs(told.rise)


def test_long_texts_are_refused_by_the_ways(backend: LocalBackend, root: Path) -> None:
    folder = str(save(root / "long", max_position_embeddings=200))
    with pytest.raises(UserError, match=r"152 tokens; .* 128"):
        backend.predict(LabelGradients(folder, text="a " * 150))
