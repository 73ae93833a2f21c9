"""Tags as files have them, all turned into BIO: BIO itself, IOB1, BIOES and its namesakes BILOU and BMES.

One rule does for all of them. B, S and U begin a span, and so does whatever follows an O, another kind, or an E, S, L
or U, which end one; I, M, E and L else go on. Read so, each scheme's well-formed tags keep their spans.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from i18n import gettext_lazy
from inference.errors import UserError
from probing.labelled.labeled_texts import OUTSIDE

TAG = re.compile(r"O|[BIESLUM]-\S.*")
BEGINS, ENDS = "BSU", "ESLU"


def is_tag(written: str) -> bool:
    """Whether a field of a file can be a tag.

    >>> is_tag("B-PER"), is_tag("O"), is_tag("NOUN")
    (True, True, False)
    """
    return TAG.fullmatch(written) is not None


def check_tag(written: str, line: int) -> str:
    """The tag itself; raises Refusal with its line where it is none."""
    if not is_tag(written):
        raise UserError(
            gettext_lazy(
                "Line {line} has the tag “{written}”; O, or a kind after B- or I- (or E-, S-, L-, U-, M-), was"
                " expected. Correct it, or name the column of the tags.",
                line=line,
                written=written[:40],
            )
        )
    return written


def to_bio(tags: Sequence[str]) -> list[str]:
    """A sentence's tags in BIO.

    >>> to_bio(["S-PER", "B-LOC", "I-LOC", "E-LOC", "O"])
    ['B-PER', 'B-LOC', 'I-LOC', 'I-LOC', 'O']
    >>> to_bio(["I-PER", "I-PER", "B-PER", "I-LOC"])
    ['B-PER', 'I-PER', 'B-PER', 'B-LOC']
    """
    turned, before = [], ""  # the kind that may go on
    for tag in tags:
        prefix, kind = tag[0], tag[2:]
        if tag == OUTSIDE:
            turned.append(tag)
        else:
            turned.append(("B-" if prefix in BEGINS or kind != before else "I-") + kind)
        before = "" if tag == OUTSIDE or prefix in ENDS else kind
    return turned


def bio_tags(kinds: Iterable[str]) -> tuple[str, ...]:
    """The tags of a model's outputs for these kinds: O, then each kind's beginning and inside, in the kinds' order.

    >>> bio_tags(["PER", "LOC"])
    ('O', 'B-LOC', 'I-LOC', 'B-PER', 'I-PER')
    """
    return (OUTSIDE, *(f"{prefix}-{kind}" for kind in sorted(set(kinds)) for prefix in "BI"))
