"""The functions ``view`` for finished attention maps and ``explore`` for a model in memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, SupportsIndex

from attention import external_maps
from attention.trace import Trace
from headlight.notebook import Shown
from headlight.token_rows import row
from i18n import _, join_sentences
from inference.catalogue.listing import find_reader
from inference.errors import UserError
from inference.hub_cards import HUB_CARDS
from inference.text.encoding import check_known
from viz.components.standalone.standalone import Theme


def view(  # noqa: PLR0913  # BertViz's parameters and a few more
    attentions: Any,
    tokens: Sequence[str],
    keys: Sequence[str] | None = None,
    second: int | None = None,
    special: Sequence[bool] | Sequence[str] | None = None,
    *,
    signed: bool = False,
    theme: Theme = "auto",
) -> Shown:
    """Return finished attention maps for display; the arguments are those of BertViz's ``head_view``.

    ``attentions`` contains an array, tensor or nested list per layer, of shape (1, head, query, key) or (head,
    query, key). It may also be a single layer, or the attentions that ``generate`` returns, a tuple of layers per
    step. With ``keys``, the queries are ``tokens`` and the keys are other tokens (cross-attention). ``second`` is
    the index of the first token of the second text (BertViz's ``sentence_b_start``).

    ``special`` marks special tokens, either by a boolean per token or by their names; by default, common names
    such as [CLS] are recognised. With ``signed``, the numbers are not weights but signed scores from -1 to 1, such
    as attributions, and are drawn with two colours. ``theme`` is "light", "dark" or "auto" (the system's theme).

    Raise ValueError with a one-sentence message if the arguments do not fit together.
    """
    looking, texts = row(tokens, second, special)
    if keys is None:
        return Shown(external_maps.trace(attentions, looking, texts=texts, signed=signed), theme=theme)
    if second is not None:
        raise external_maps.InvalidAttention(_("Tokens that look at keys are one text; leave second out."))
    looked, theirs = row(keys, None, special if _names(special) else None, "keys")
    return Shown(
        external_maps.trace(attentions, looked, looking, (theirs[0], None), texts[0], signed=signed), theme=theme
    )


def explore(  # noqa: PLR0913  # the input and the view options
    model: Any,
    tokenizer: Any,
    text: Any,
    pair: str | None = None,
    focus: str | SupportsIndex | None = None,
    *,
    target_text: str | None = None,
    truncate: bool = False,
    theme: Theme = "auto",
) -> Shown:
    """Run a model in memory on a text and show the attention of every head; the model is not modified.

    The attention implementation, mode and device of the model do not matter: a shell that shares its weights runs
    the text. An encoder-decoder generates its target unless ``target_text`` is given. With ``truncate``, a text
    that is too long is cut to the first tokens. ``focus`` is the word, or the index of the token, that is selected
    at first; ``theme`` is as in ``view``.

    For a vision transformer, pass its processor as ``tokenizer`` and a picture as ``text``: an array of shape
    (row, column, 3) and dtype uint8, or a PIL image.

    Raise ValueError with a one-sentence message, also if at least a third of the tokens are unknown to the model.
    """
    from inference.in_memory import trace, trace_picture  # torch is imported lazily, because that takes seconds

    if hasattr(text, "convert") or hasattr(text, "shape"):
        if pair is not None or target_text is not None or truncate:
            raise external_maps.InvalidAttention(
                _("A picture is read alone; leave pair, target_text and truncate out.")
            )
        return Shown(trace_picture(model, tokenizer, text), focus, theme=theme)
    try:
        read = trace(model, tokenizer, text, pair, target_text, truncate=truncate)
    except UserError as refusal:
        if refusal.way_out != "cut":
            raise
        said = _("{refusal} To read the beginning, pass truncate=True.", refusal=refusal.message)
        raise UserError(said, way_out=refusal.way_out, details=refusal.details) from refusal
    _refuse_unknown(read)
    return Shown(read, focus, theme=theme)


def _refuse_unknown(read: Trace) -> None:
    """Raise UserError if the model does not know the words of a text; suggest a hub model that does."""
    try:
        check_known(read.model.name, read.source, read.target)
    except UserError as refusal:
        better = find_reader(HUB_CARDS, refusal.details["unknown"], read.model.kind)
        if better is None:
            raise
        said = join_sentences(refusal.message, _("For example, {model} knows them.", model=better.id))
        raise UserError(said, way_out=refusal.way_out, details=refusal.details) from refusal


def _names(special: Any) -> bool:
    return hasattr(special, "__iter__") and all(isinstance(one, str) for one in special)
