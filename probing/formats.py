"""Files of annotated sentences, read whole and checked: what is wrong is said with its line."""

from __future__ import annotations

import hashlib
from pathlib import Path

from inference.errors import Refusal
from probing import conllu, gap, table
from probing.corpus import Corpus
from probing.utf8 import decoded_or_guessed, refuse_folder
from wording import sentence

FORMATS = {"conllu": conllu, "gap": gap, "csv": table}
NAMES = {
    "conllu": sentence("CoNLL-U: dependency relations"),
    "gap": sentence("GAP's TSV: a pronoun and two names"),
    "csv": sentence("CSV, TSV, JSON Lines or Parquet with the columns text, source, target, distractor"),
}


def load(file: Path, format: str, encoding: str = "") -> Corpus:
    """The corpus in a file; raises Refusal when there is no such file or it is not in that format."""
    refuse_folder(file)
    try:
        content = file.read_bytes()
    except OSError as error:
        reason = (
            sentence("there is no such file")
            if isinstance(error, FileNotFoundError)
            else sentence("it cannot be opened")
        )
        raise Refusal(
            sentence("{file} cannot be read: {reason}. Give the path of an annotated file.", file=file, reason=reason)
        ) from error
    return parse(content, format, encoding)


def parse(content: bytes, format: str, encoding: str = "") -> Corpus:
    """The corpus in a file's content; raises Refusal with the line where it is not in that format.

    >>> rows = "text,source,target,distractor\\nThe cat saw the dog as it fled.,it,cat,dog\\n"
    >>> parse(rows.encode(), "csv").items[0].units
    ((23, 25), (4, 7), (16, 19))
    """
    if format not in FORMATS:
        raise Refusal(
            sentence(
                'The format "{format}" came; {formats} can be read. Name one of them.',
                format=format,
                formats=", ".join(FORMATS),
            )
        )
    parser = FORMATS[format]
    if format == "conllu":
        text, guessed = conllu.text_of(content, encoding), ""
    else:
        text, guessed = decoded_or_guessed(content, encoding)
    parsed = parser.parse(text)
    if not any(item.links for item in parsed.items):
        raise Refusal(sentence("The file has nothing to score: {empty}.", empty=parser.EMPTY))
    return Corpus(
        format=format,
        items=tuple(item for item in parsed.items if item.links),
        directions=parser.DIRECTIONS,
        digest=hashlib.sha256(f"{format}{encoding}\n".encode() + content).hexdigest(),
        left_out=parsed.left_out,
        together=format == "conllu",
        guessed=guessed,
    )
