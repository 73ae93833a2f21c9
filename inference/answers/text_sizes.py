"""The tokens of many texts counted, each text as it stands and nothing cut."""

from __future__ import annotations

import numpy as np

from inference.errors import refusing
from inference.loaded import Loaded
from inference.questions.text_sizes import Sizes, TextSizes
from wording import sentence

CHUNK = 1_000  # texts that are cut into pieces at a time


def answer(loaded: Loaded, question: TextSizes) -> Sizes:
    """Each text's tokens, and the unknown ones; raises Refusal for what the tokenizer cannot read."""
    tokenizer = loaded.reader.tokenizer
    texts = list(question.texts)
    tokens: list[int] = []
    unknown: list[int] = []
    for first in range(0, len(texts), CHUNK):
        with refusing(
            sentence("The tokenizer of {name} cannot read one of these texts.", name=loaded.id.name), way_out=None
        ):
            rows = tokenizer(texts[first : first + CHUNK], verbose=False)["input_ids"]
        tokens += map(len, rows)
        unknown += (row.count(tokenizer.unk_token_id) for row in rows)
    return Sizes(np.array(tokens, np.int32), np.array(unknown, np.int32))
