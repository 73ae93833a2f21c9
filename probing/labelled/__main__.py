"""A command that packs labelled sets: python -m probing.labelled KIND OUT --train FILE --test FILE …

The packed sets are in assets/tasks. The files have the formats that the app accepts: CSV, TSV, JSON Lines or
Parquet with a text and a label in each row, or CoNLL columns. A file with the suffix .xz is decompressed first. A
missing split is taken from train. With KIND "both", --spans gives the same sentences of train, dev and test in
CoNLL columns. assets/tasks/README.md lists the sources of each set.
"""

from __future__ import annotations

import argparse
import lzma
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from inference.errors import UserError
from probing.labelled.files import File
from probing.labelled.labeled_texts import LabeledText, TaggedText, locate_words
from probing.labelled.loading import PARTS, ReadResult, TaskFiles, read_labeled, read_tagged
from probing.labelled.ready_sets import line, pack


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return 0 on success and 2 if a file cannot be used."""
    asked = _parser().parse_args(arguments)
    try:
        files = TaskFiles(**{part: _open_file(path) for part in PARTS if (path := getattr(asked, part)) is not None})
        read = read_tagged(files) if asked.kind == "tag" else read_labeled(files)
        spans = read_tagged(TaskFiles(*map(_open_file, asked.spans))) if asked.kind == "both" else None
        content = pack(_lines(read, spans))
    except (UserError, ValueError) as error:
        print(error, file=sys.stderr)
        return 2
    asked.out.write_bytes(content)
    for sentence in (*read.notes, *(spans.notes if spans else ())):
        print(sentence)
    sizes = ", ".join(f"{len(getattr(read.labels, part)):,} {part}" for part in PARTS)
    print(f"{asked.out.name}: {sizes}; {len(content):,} bytes.")
    return 0


def _lines(read: ReadResult, spans: ReadResult | None) -> list[list[str]]:
    """Return the packed lines of each split."""
    parts = []
    for part in PARTS:
        rows = getattr(read.labels, part)
        if spans is None:
            parts.append([line(row) for row in rows])
        else:
            pairs = zip(rows, getattr(spans.labels, part), strict=True)
            parts.append([line(_tag_original_text(row, words), row.label) for row, words in pairs])
    return parts


def _tag_original_text(row: LabeledText, sentence: TaggedText) -> TaggedText:
    """Return the words and tags of a sentence, located in the text as it was written."""
    places = locate_words([sentence.text[start:end] for start, end in sentence.words], row.text)
    if places is None:
        raise UserError(
            f"The words of “{sentence.text[:60]}” do not make up “{row.text[:60]}”. Give the same sentences."
        )
    return replace(sentence, text=row.text, words=tuple(places))


def _open_file(path: Path) -> File:
    file = File.from_path(path)
    return replace(file, content=lzma.decompress(file.content)) if path.suffix == ".xz" else file


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m probing.labelled", description=__doc__)
    parser.add_argument("kind", choices=("classify", "tag", "both"), help="what the texts are labelled with")
    parser.add_argument("out", type=Path, metavar="OUT", help="where the packed set is written")
    parser.add_argument("--train", type=Path, metavar="FILE", required=True)
    parser.add_argument("--dev", type=Path, metavar="FILE")
    parser.add_argument("--test", type=Path, metavar="FILE")
    parser.add_argument("--spans", type=Path, metavar="FILE", nargs=3, help="train, dev and test in CoNLL columns")
    return parser


if __name__ == "__main__":
    sys.exit(main())
