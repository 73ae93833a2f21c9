"""Token counts of many texts, without truncation."""

from __future__ import annotations

import numpy as np

from i18n import gettext_lazy
from inference.errors import as_user_error
from inference.loaded_model import LoadedModel
from inference.tasks.hidden_states import TextSizes, TokenCounts

CHUNK = 1_000  # texts that are tokenised at a time


def answer(loaded: LoadedModel, question: TextSizes) -> TokenCounts:
    """Return each text's number of tokens and of unknown tokens.

    Raise UserError if the tokenizer cannot read a text.
    """
    tokenizer = loaded.reader.tokenizer
    texts = list(question.texts)
    tokens: list[int] = []
    unknown: list[int] = []
    for first in range(0, len(texts), CHUNK):
        with as_user_error(
            gettext_lazy("The tokenizer of {name} cannot read one of these texts.", name=loaded.id.name), way_out=None
        ):
            rows = tokenizer(texts[first : first + CHUNK], verbose=False)["input_ids"]
        tokens += map(len, rows)
        unknown += (row.count(tokenizer.unk_token_id) for row in rows)
    return TokenCounts(np.array(tokens, np.int32), np.array(unknown, np.int32))
