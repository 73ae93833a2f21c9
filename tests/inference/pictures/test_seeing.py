"""Answers and attributions of picture models against transformers' own classes with the same weights."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers

from attention.edits import Ablate
from inference import LocalBackend, UserError
from inference.settings import Settings
from inference.task_heads import SEES, WHAT
from inference.tasks.hidden_states import HiddenStates
from inference.tasks.labels import TextLabel
from inference.tasks.picture_outputs import AttributionOfPatches, PictureLabels, PictureTexts, PictureVector
from tests.support.cases import loop_over
from tests.support.picturemodels import picture, save, save_judge, sight

NAMES = {0: "cat", 1: "dog", 2: "<b>street</b>", 3: "none"}
TEXTS = ("the cat", "the animal was playing", "street")
SETS = ((), (Ablate(0, 1),), (Ablate(1, 2),), ())
JUDGES = ("ViT", "DINOv2", "BEiT")


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("models")
    for name in ("ViT", "DINOv2", "I-JEPA", "CLIP", "SigLIP"):
        save(sight(name), root / name)
    for name in JUDGES:
        save_judge(sight(name), root / f"{name} judge", NAMES)
    return root


@pytest.fixture(scope="module")
def backend(root: Path) -> LocalBackend:
    return LocalBackend(Settings(model_folders=(root,), offline=True, cache=root / "cache"))


def pixels(backend: LocalBackend, folder: Path, side: int | None) -> tuple[Any, dict[str, bool]]:
    eye = backend.loaded(str(folder), None).eye
    assert eye is not None
    seen = eye.read(picture(), side)
    return torch.from_numpy(seen.pixels.copy())[None], seen.options


def eager(auto: Any, folder: Path) -> Any:
    return auto.from_pretrained(folder, attn_implementation="eager").eval().requires_grad_(False)


@loop_over("side", [None, 44])
@loop_over("name", JUDGES)
def test_classes_are_the_library_s_own(backend: LocalBackend, root: Path, name: str, side: int | None) -> None:
    folder = root / f"{name} judge"
    said = backend.predict(PictureLabels(model=str(folder), picture=picture(), side=side, edits=SETS))
    given, options = pixels(backend, folder, side)
    logits = eager(transformers.AutoModelForImageClassification, folder)(given, **options).logits[0]
    np.testing.assert_allclose(said.values[0], logits, atol=1e-4)
    np.testing.assert_allclose(said.probabilities[0], logits.softmax(-1), atol=1e-5)  # type: ignore[index]
    assert said.names == tuple(NAMES.values())
    assert said.likeliest(2)[0][0] == NAMES[int(logits.argmax())]
    np.testing.assert_allclose(said.values[3], said.values[0], atol=1e-4)
    assert np.abs(said.values[1] - said.values[0]).max() > 1e-3


@pytest.mark.parametrize("name", ["ViT", "I-JEPA"])
def test_the_vector_is_that_of_cls_or_the_mean_of_the_patches(backend: LocalBackend, root: Path, name: str) -> None:
    found = backend.predict(PictureVector(model=str(root / name), picture=picture()))
    given, options = pixels(backend, root / name, None)
    states = eager(transformers.AutoModel, root / name)(given, **options).last_hidden_state[0]
    np.testing.assert_allclose(found.values[0], states[0] if name == "ViT" else states.mean(0), atol=1e-4)


@pytest.mark.parametrize("name", ["CLIP", "SigLIP"])
def test_texts_fit_as_the_library_says(backend: LocalBackend, root: Path, name: str) -> None:
    said = backend.predict(PictureTexts(model=str(root / name), picture=picture(), texts=TEXTS, edits=SETS))
    given, _ = pixels(backend, root / name, None)
    tokenizer = transformers.AutoTokenizer.from_pretrained(root / name)
    filled = {"padding": "max_length", "max_length": 64} if name == "SigLIP" else {"padding": True}
    words = tokenizer(list(TEXTS), return_tensors="pt", **filled)
    words = {"input_ids": words["input_ids"]} if name == "SigLIP" else {
        key: words[key] for key in ("input_ids", "attention_mask")
    }  # fmt: skip
    logits = eager(transformers.AutoModel, root / name)(pixel_values=given, **words).logits_per_image[0]
    np.testing.assert_allclose(said.values[0], logits, atol=1e-4)
    expected = logits.sigmoid() if name == "SigLIP" else logits.softmax(-1)
    np.testing.assert_allclose(said.probabilities[0], expected, atol=1e-5)  # type: ignore[index]
    assert said.names == TEXTS
    assert np.abs(said.values[2] - said.values[0]).max() > 1e-4
    alone = backend.predict(PictureVector(model=str(root / name), picture=picture()))
    assert np.linalg.norm(alone.values[0]) == pytest.approx(1, abs=1e-5)


def chefer(logit: Any, maps: Any) -> Any:
    """Compute equations 5 and 6 of arXiv:2103.15679 with whole matrices."""
    gradients = torch.autograd.grad(logit, maps, retain_graph=True)
    reached = torch.eye(maps[0].shape[-1])
    for weights, gradient in zip(maps, gradients, strict=True):
        reached = reached + (weights[0] * gradient[0]).clamp(min=0).mean(0) @ reached
    return reached.detach()


@pytest.mark.parametrize("label", [-1, 2])
def test_a_class_rests_on_what_the_paper_says(backend: LocalBackend, root: Path, label: int) -> None:
    folder = root / "ViT judge"
    found = backend.predict(AttributionOfPatches(model=str(folder), picture=picture(), label=label))
    given, _ = pixels(backend, root / "ViT", None)
    model = transformers.AutoModelForImageClassification.from_pretrained(folder, attn_implementation="eager").eval()
    output = model(given, output_attentions=True)
    at = int(output.logits.argmax()) if label < 0 else label
    expected = chefer(output.logits[0, at], output.attentions)[0]
    np.testing.assert_allclose(found.patches, expected, rtol=1e-3, atol=1e-5)
    assert found.name == NAMES[at]
    assert found.value == pytest.approx(float(output.logits[0, at].detach()), abs=1e-4)
    assert np.ptp(found.patches[1:]) > 1e-4
    assert (found.text_row, found.words) == (None, None)


def test_how_well_a_text_fits_rests_on_patches_and_words(backend: LocalBackend, root: Path) -> None:
    folder = root / "CLIP"
    found = backend.predict(AttributionOfPatches(model=str(folder), picture=picture(), text=TEXTS[1]))
    given, _ = pixels(backend, folder, None)
    words = transformers.AutoTokenizer.from_pretrained(folder)(TEXTS[1], return_tensors="pt")
    model = transformers.AutoModel.from_pretrained(folder, attn_implementation="eager").eval()
    ids = words["input_ids"]
    seen = model.vision_model(given, output_attentions=True)
    read = model.text_model(input_ids=ids, attention_mask=words["attention_mask"], output_attentions=True)
    logit = (
        torch.cosine_similarity(model.visual_projection(seen.pooler_output), model.text_projection(read.pooler_output))[
            0
        ]
        * model.logit_scale.exp()
    )
    np.testing.assert_allclose(found.patches, chefer(logit, seen.attentions)[0], rtol=1e-3, atol=1e-5)
    end = int(ids[0].argmax())  # The text's vector is read at the end token.
    assert found.words is not None
    np.testing.assert_allclose(found.words, chefer(logit, read.attentions)[end], rtol=1e-3, atol=1e-5)
    assert found.text_row is not None
    assert len(found.words) == len(found.text_row) == ids.shape[1]
    assert found.value == pytest.approx(float(logit.detach()), abs=1e-4)


def test_siglip_rests_on_all_that_it_pools(backend: LocalBackend, root: Path) -> None:
    found = backend.predict(AttributionOfPatches(model=str(root / "SigLIP"), picture=picture(), text=TEXTS[1], side=40))
    assert found.row.grid is not None
    assert len(found.patches) == len(found.row.grid) == 60
    assert found.words is not None
    assert found.text_row is not None
    assert len(found.words) == len(found.text_row)
    assert np.isfinite(found.patches).all()
    assert (found.patches > 0).all()


def test_nothing_is_left_behind(backend: LocalBackend, root: Path) -> None:
    """Gradients leave no hooks, gradients or flags on the model."""
    question = PictureVector(model=str(root / "ViT judge"), picture=picture(seed=8))
    backend.predict(AttributionOfPatches(model=str(root / "ViT judge"), picture=picture(seed=8)))
    assert backend.predict(question).values.flags.writeable is False
    model = backend.loaded(str(root / "ViT judge"), None, "picture label").model
    assert not any(parameter.requires_grad or parameter.grad is not None for parameter in model.parameters())
    assert not any(module._forward_hooks for module in model.modules())  # noqa: SLF001  # torch has no public way


@loop_over(
    ("name", "question", "said"),
    [
        ("ViT", PictureLabels(picture=picture()), "no image-classification head"),
        ("CLIP", PictureLabels(picture=picture()), "no image-classification head"),
        ("ViT", PictureTexts(picture=picture(), texts=TEXTS), "does not compare texts with pictures"),
        ("ViT", AttributionOfPatches(picture=picture(), text="a cat"), "does not compare texts with pictures"),
        ("CLIP", PictureTexts(picture=picture()), "Got 0 texts"),
        ("CLIP", PictureTexts(picture=picture(), texts=("",)), "is empty"),
        ("ViT", PictureVector(), "No picture came"),
        ("ViT judge", AttributionOfPatches(picture=picture(), label=4), "the model knows 4"),
        ("ViT", PictureVector(picture=picture(), edits=((Ablate(7, 0),),)), "no head 7-0"),
        ("ViT", HiddenStates(text="a cat"), "reads pictures"),
        ("ViT", TextLabel(text="a cat"), "reads pictures"),
    ],
)
def test_refusals(backend: LocalBackend, root: Path, name: str, question: Any, said: str) -> None:
    with pytest.raises(UserError, match=said):
        backend.predict(replace(question, model=str(root / name)))


@pytest.mark.slow
def test_a_text_model_says_nothing_of_pictures(backend: LocalBackend) -> None:
    with pytest.raises(UserError, match="not pictures"):
        backend.predict(PictureVector(picture=picture()))
    with pytest.raises(UserError, match=WHAT[SEES]):
        backend.predict(PictureLabels(picture=picture()))


@pytest.mark.parametrize("order", [(1, 2), (2, 1), (1, 0, 2), (2, 1, 0)])
def test_sets_in_any_order_and_without_an_empty_one_are_each_as_alone(
    backend: LocalBackend, root: Path, order: tuple[int, ...]
) -> None:
    sets = tuple(SETS[at] for at in order)
    question = PictureVector(model=str(root / "DINOv2"), picture=picture(), edits=sets)
    alone = [backend.predict(replace(question, edits=(mine,))).values[0] for mine in sets]
    np.testing.assert_allclose(backend.predict(question).values, alone, atol=1e-5)
