"""`python -m bench [NAME ...]`: measure everything, or what is named, and print one Markdown table."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import time
from collections.abc import Iterator
from datetime import date

from bench.report import Row, machine, table

# In this order: what needs no browser first.
MEASUREMENTS = {
    "forward": "a forward pass with recording against a plain one",
    "memory": "peak memory of recording against output_attentions",
    "matrix": "one head's matrix against a forward pass",
    "luck": "how often luck alone is called more than the rule",
    "luck_across": "how often luck alone says that a head changes more with the meaning",
    "edits": "every head removed in turn against plain forward passes",
    "carry": "every vector and head of one text taken from another",
    "reruns": "a click and a new text on every page, on a server that has had visitors",
    "held": "memory held after a thousand texts and twenty models",
    "startup": "from process start to a page, and to the first map",
    "bytes": "what the browser receives for the first full view",
    "paint": "text submitted to painted, against BertViz",
    "hover": "hover and head change to painted",
    "long": "8,192 tokens on a ModernBERT-sized model",
}
# Measured on files that are named after it, and only when it is named itself.
ON_FILES = {
    "probing": "scores of heads on annotated sentences, given a CoNLL-U file and GAP's TSV",
    "specific": "heads chosen by a link's weight and by its excess, on held-out sentences; GAP's TSV may be given",
}


def rows(names: list[str], files: list[str]) -> Iterator[Row]:
    """The rows of the named measurements; one that breaks off is a failed row, and the others still run."""
    for name in names:
        began, what = time.perf_counter(), (MEASUREMENTS | ON_FILES)[name]
        print(f"… {name}: {what}", file=sys.stderr, flush=True)
        try:
            module = importlib.import_module(f"bench.{MODULES.get(name, name)}")
            for row in module.measure(*files) if name in ON_FILES else module.measure():
                print("  " + " | ".join(row.cells()), file=sys.stderr, flush=True)
                yield row
        except Exception as error:  # a measurement that cannot be made is a loss to publish, not an end
            broken = f"{type(error).__name__}: {error}".splitlines()[0][:300]
            print(f"  {broken}", file=sys.stderr, flush=True)
            yield Row(what, "measured", f"broke off: {broken}", False)
        print(f"  {time.perf_counter() - began:.0f} s", file=sys.stderr, flush=True)


MODULES = {"bytes": "first_view"}


def main() -> int:
    """Exit status 1 when a bar is missed."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"of {', '.join(MEASUREMENTS)}; all of these by default"
    )
    given = parser.parse_args().names
    names = [name for name in given if name in MEASUREMENTS | ON_FILES] or list(MEASUREMENTS)
    files = [name for name in given if name not in names]
    if files and not set(names) & set(ON_FILES):
        parser.error(f"There is no measurement {files[0]!r}; there are {', '.join(MEASUREMENTS | ON_FILES)}.")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    where, command = machine(), " ".join(["python -m bench", *given])
    found = list(rows(names, files))
    print(f"## {date.today().isoformat()} · `{command}`\n\n{where}.\n\n{table(found)}")
    return int(any(row.passed is False for row in found))


if __name__ == "__main__":
    sys.exit(main())
