"""The task heads that a request may need: names, error messages, and the kinds of models that have them.

``inference/load/loading.py`` maps heads to classes and checks a checkpoint for their weights.
"""

from __future__ import annotations

from i18n import gettext_lazy

BARE, MASKED, NEXT_SENTENCE, CAUSAL = "", "masked", "next sentence", "causal"
CLASSIFY, TAG = "label", "tags"  # a class for a text; a tag for each word
ANSWER = "answer"  # the start and the end of an answer in a passage
SEES = "picture label"  # a class for a picture
WRITES = "writes"  # an encoder-decoder generates text; the traced model already includes this head
RANDOM = "random weights"  # the bare architecture with untrained weights (inference.load.shared_weights)
TOKENIZER = "tokenizer"  # only the tokenizer, without a model

WHAT = {
    MASKED: gettext_lazy("no masked-word head"),
    NEXT_SENTENCE: gettext_lazy("no next-sentence head"),
    CAUSAL: gettext_lazy("no next-word head"),
    WRITES: gettext_lazy("no head that translates"),
    CLASSIFY: gettext_lazy("no text-classification head"),
    TAG: gettext_lazy("no token-classification head"),
    ANSWER: gettext_lazy("no question-answering head"),
    SEES: gettext_lazy("no image-classification head"),
}
KINDS = {  # the kinds of models that may have each head
    MASKED: ("encoder",),
    NEXT_SENTENCE: ("encoder",),
    CAUSAL: ("decoder",),
    WRITES: ("encoder-decoder",),
    CLASSIFY: ("encoder", "decoder"),
    TAG: ("encoder", "decoder"),
    ANSWER: ("encoder",),
    SEES: ("encoder",),
}
# The endings of the transformers classes with these heads. Both heads have weights of the same names, so only the
# class name in a checkpoint's configuration distinguishes them.
CLASSES = {CLASSIFY: "ForSequenceClassification", TAG: "ForTokenClassification"}
FINE_TUNED = (*CLASSES, ANSWER)  # heads that a fine-tuning adds
TRAINED_AS = {**CLASSES, ANSWER: "ForQuestionAnswering", SEES: "ForImageClassification"}
