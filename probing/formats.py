"""Files of annotated sentences, read whole and checked: what is wrong is said with its line."""

from __future__ import annotations

import hashlib
from pathlib import Path

from inference.errors import Refusal
from probing import conllu, gap, table
from probing.corpus import Corpus
from probing.utf8 import decoded

FORMATS = {"conllu": conllu, "gap": gap, "csv": table}
NAMES = {
    "conllu": "CoNLL-U: dependency relations",
    "gap": "GAP's TSV: a pronoun and two names",
    "csv": "CSV with the columns text, source, target, distractor",
}


def load(file: Path, format: str) -> Corpus:
    """The corpus in a file; raises Refusal when there is no such file or it is not in that format."""
    try:
        content = file.read_bytes()
    except OSError as error:
        reason = "there is no such file" if isinstance(error, FileNotFoundError) else "it cannot be opened"
        raise Refusal(f"{file} cannot be read: {reason}. Give the path of an annotated file.") from error
    return parse(content, format)


def parse(content: bytes, format: str) -> Corpus:
    """The corpus in a file's content; raises Refusal with the line where it is not in that format.

    >>> rows = "text,source,target,distractor\\nThe cat saw the dog as it fled.,it,cat,dog\\n"
    >>> parse(rows.encode(), "csv").items[0].units
    ((23, 25), (4, 7), (16, 19))
    """
    if format not in FORMATS:
        raise Refusal(f'The format "{format}" came; {", ".join(FORMATS)} can be read. Name one of them.')
    text = decoded(content)
    parser = FORMATS[format]
    parsed = parser.parse(text)
    if not any(item.links for item in parsed.items):
        raise Refusal(f"The file has nothing to score: {parser.EMPTY}.")
    return Corpus(
        format=format,
        items=tuple(item for item in parsed.items if item.links),
        directions=parser.DIRECTIONS,
        digest=hashlib.sha256(format.encode() + b"\n" + content).hexdigest(),
        left_out=parsed.left_out,
        together=format == "conllu",
    )
