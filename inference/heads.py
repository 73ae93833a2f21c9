"""The heads that a question may need: their names, how a missing one is told, and the kind of model that has it.

Which class has them and whether a checkpoint holds their weights: ``inference/load/head_weights.py``.
"""

from __future__ import annotations

BARE, MASKED, NEXT_SENTENCE, CAUSAL = "", "masked", "next sentence", "causal"
WRITES = "writes"  # writes a text from a source; the model that is traced has this head already, where there is one
RANDOM = "random weights"  # the bare architecture with weights that were never trained (inference.load.untrained_twin)
TOKENIZER = "tokenizer"  # no model at all: what its tokenizer does can be asked, and nothing else

WHAT = {
    MASKED: "no head that guesses masked words",
    NEXT_SENTENCE: "no head that judges whether one text follows another",
    CAUSAL: "no head that continues a text",
    WRITES: "no head that writes one text from another",
}
KINDS = {MASKED: "encoder", NEXT_SENTENCE: "encoder", CAUSAL: "decoder", WRITES: "encoder-decoder"}
