"""The heads that a question may need: their names, how a missing one is told, and the kind of model that has it.

Which class has them and whether a checkpoint holds their weights: ``inference/load/head_weights.py``.
"""

from __future__ import annotations

from i18n import gettext_lazy

BARE, MASKED, NEXT_SENTENCE, CAUSAL = "", "masked", "next sentence", "causal"
CLASSIFY, TAG = "label", "tags"  # a class for a text; a tag for each of its words
SEES = "picture label"  # a class for a picture
WRITES = "writes"  # writes a text from a source; the model that is traced has this head already, where there is one
RANDOM = "random weights"  # the bare architecture with weights that were never trained (inference.load.shared_weights)
TOKENIZER = "tokenizer"  # no model at all: what its tokenizer does can be asked, and nothing else

WHAT = {
    MASKED: gettext_lazy("no head that guesses masked words"),
    NEXT_SENTENCE: gettext_lazy("no head that judges whether one text follows another"),
    CAUSAL: gettext_lazy("no head that continues a text"),
    WRITES: gettext_lazy("no head that writes one text from another"),
    CLASSIFY: gettext_lazy("no head that tells the class of a text"),
    TAG: gettext_lazy("no head that tags words"),
    SEES: gettext_lazy("no head that tells the class of a picture"),
}
KINDS = {  # of models that may have it
    MASKED: ("encoder",),
    NEXT_SENTENCE: ("encoder",),
    CAUSAL: ("decoder",),
    WRITES: ("encoder-decoder",),
    CLASSIFY: ("encoder", "decoder"),
    TAG: ("encoder", "decoder"),
    SEES: ("encoder",),
}
# How the classes of transformers that have these heads end: their weights are called alike, so only a checkpoint's
# configuration tells which of the two it was trained as.
CLASSES = {CLASSIFY: "ForSequenceClassification", TAG: "ForTokenClassification"}
TRAINED_AS = {**CLASSES, SEES: "ForImageClassification"}
