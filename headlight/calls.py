"""The two calls: maps that are there already, and a model that reads a text now."""

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


def view(  # noqa: PLR0913  # BertViz's call, and what it lacks
    attentions: Any,
    tokens: Sequence[str],
    keys: Sequence[str] | None = None,
    second: int | None = None,
    special: Sequence[bool] | Sequence[str] | None = None,
    *,
    signed: bool = False,
    theme: Theme = "auto",
) -> Shown:
    """Finished maps of one text, as BertViz's ``head_view(attention, tokens)`` takes them.

    ``attentions``: for each layer (1, head, query, key) or (head, query, key), as tensors of torch, arrays or lists;
    one layer alone; or what ``generate`` returns, a tuple of such for each step. With ``keys``, tokens look at these.
    ``second`` is where the second text of a pair begins (BertViz's ``sentence_b_start``). ``special``: a truth value
    for each token that says whether it stands for no word, or the names of those; usual names are known. ``signed``:
    the numbers are no weights but may be below zero, such as attributions, all from -1 to 1; their colours tell both
    sides of zero apart. ``theme`` is "light" or "dark", or "auto", as the system is. Raises ValueError in one sentence.
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


def explore(  # noqa: PLR0913  # what is read, and how it is shown
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
    """What every head of a model in memory attends to in a text; the model itself is left as it is.

    Whatever its attention setting, mode or device: what runs is a shell of it over the same weights. An encoder-decoder
    writes its target itself unless ``target_text`` is given. ``truncate`` reads the first tokens of a text that is too
    long. A text is refused if at least a third of its tokens are unknown to the model. ``focus`` is the word, or the
    token's number, that is asked about first; ``theme`` is as in ``view``.

    Of a vision transformer, give its processor as the ``tokenizer`` and a picture as the ``text``: an array
    (row, column, 3) of uint8, or an image of PIL. Raises ValueError in one sentence.
    """
    from inference.in_memory import trace, trace_picture  # torch is waited for here

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
    """Raise Refusal if the model does not know the words of a text; its message names a hub model that knows them."""
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
