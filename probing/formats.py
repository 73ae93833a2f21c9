"""Loading of annotated sentences in any format, and the bundled sets."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

from i18n import gettext_lazy
from inference.errors import UserError
from probing import conllu
from probing.conllu import CONLLU
from probing.corpus import GAP, TABLE, AnnotatedCorpus
from probing.text_files import decoded_or_guessed, refuse_folder

FORMATS = {"conllu": CONLLU, "gap": GAP, "csv": TABLE}
NAMES = {
    "conllu": gettext_lazy("CoNLL-U: dependency relations"),
    "gap": gettext_lazy("GAP's TSV: a pronoun and two names"),
    "csv": gettext_lazy("CSV, TSV, JSON Lines or Parquet with the columns text, source, target, distractor"),
}


def load(file: Path, format: str, encoding: str = "") -> AnnotatedCorpus:
    """Load the corpus in a file; raise UserError if the file is missing or has another format."""
    refuse_folder(file)
    try:
        content = file.read_bytes()
    except OSError as error:
        reason = (
            gettext_lazy("there is no such file")
            if isinstance(error, FileNotFoundError)
            else gettext_lazy("it cannot be opened")
        )
        raise UserError(
            gettext_lazy(
                "{file} cannot be read: {reason}. Give the path of an annotated file.", file=file, reason=reason
            )
        ) from error
    return parse(content, format, encoding)


def parse(content: bytes, format: str, encoding: str = "") -> AnnotatedCorpus:
    """Parse the content of a file; raise UserError with the line of an error.

    >>> rows = "text,source,target,distractor\\nThe cat saw the dog as it fled.,it,cat,dog\\n"
    >>> parse(rows.encode(), "csv").items[0].units
    ((23, 25), (4, 7), (16, 19))
    """
    if format not in FORMATS:
        raise UserError(
            gettext_lazy(
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
        raise UserError(gettext_lazy("The file has nothing to score: {empty}.", empty=parser.empty))
    return AnnotatedCorpus(
        format=format,
        items=tuple(item for item in parsed.items if item.links),
        directions=parser.directions,
        digest=hashlib.sha256(f"{format}{encoding}\n".encode() + content).hexdigest(),
        left_out=parsed.left_out,
        together=format == "conllu",
        guessed=guessed,
    )


PROBES = Path(__file__).resolve().parent.parent / "assets" / "probes"
READY = {"grammar": ("grammar.conllu", "conllu"), "pronouns": ("pronouns.csv", "csv")}


@cache
def load_ready_set(name: str) -> AnnotatedCorpus:
    """Load a bundled set, "grammar" or "pronouns".

    >>> len(load_ready_set("grammar").items)
    60
    """
    file, format = READY[name]
    return load(PROBES / file, format)
