"""What can be asked of a backend, as frozen values: the same request has the same key on every machine."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from attention.edits import Edit
from attention.picture import Picture
from inference.request_keys import key_of

EMBEDDED = "all-MiniLM-L6-v2"  # the model that comes with the app


@dataclass(frozen=True)
class TraceRequest:
    """One text for one model.

    ``model`` is the embedded model's name, a hub id or an allowed local folder; ``revision`` a branch, tag or commit.
    ``pair`` is a second text read together with the first. ``target`` is what an encoder-decoder writes; without it
    the model writes greedily itself. ``written`` is what is written in the model's own tokens instead: by an
    encoder-decoder, or by a decoder after the text as its prompt. ``cut`` reads the first so many tokens only, special
    tokens included. ``edits`` are changes inside the attention (attention.edits); where something is written, those
    that name tokens which are not there do nothing. ``picture`` is what a vision transformer reads, alone or beside the
    text; ``side`` has it read whole, its longer side about so many pixels, instead of as the model's processor does.

    >>> TraceRequest(text="hello").key == TraceRequest(text="hello").key
    True
    """

    model: str = EMBEDDED
    text: str = ""
    pair: str | None = None
    target: str | None = None
    revision: str | None = None
    cut: int | None = None
    edits: tuple[Edit, ...] = ()
    written: tuple[int, ...] | None = None
    picture: Picture | None = None
    side: int | None = None

    @cached_property
    def key(self) -> str:
        """SHA-256 of the request as canonical JSON, 64 hexadecimal digits. Lone surrogates are allowed here."""
        return key_of(self)

    @property
    def weight(self) -> int:
        """Rough bytes of memory that remembering this request takes."""
        texts = (self.model, self.text, self.pair or "", self.target or "", self.revision or "")
        seen = 0 if self.picture is None else self.picture.nbytes
        return 500 + seen + sum(4 * len(text) for text in texts) + 200 * len(self.edits) + 40 * len(self.written or ())
