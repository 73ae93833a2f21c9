"""The command `python -m bench [NAME ...]`, which prints a Markdown table of measurements."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import time
from collections.abc import Iterator
from datetime import date
from typing import Any

from bench.report import ReportRow, machine, table

# Measurements without a browser come first.
MEASUREMENTS = {
    "forward": "a forward pass with recording against a plain one",
    "pictures": "a picture with recording against a plain pass",
    "memory": "peak memory of recording against output_attentions",
    "live_recorder": "headlight.record against a plain pass, output_attentions, BertViz's way and TransformerLens",
    "matrix": "one head's matrix against a forward pass",
    "luck": "how often luck alone is called more than the rule",
    "luck_across": "how often luck alone says that a head changes more with the meaning",
    "luck_claims": "how often luck alone leads to a claim about rules, random changes and taught heads",
    "edits": "every head removed in turn against plain forward passes",
    "carry": "every vector and head of one text taken from another",
    "terms": "an attention score explained, and 500 labelled sentences; a CoNLL-U file may be given",
    "atlas": "a head atlas built, and searched for pairs of words; files of texts may be given",
    "reruns": "a click and a new text on every page, on a server that has had visitors",
    "clicks": "a head and a text on Explore, of one visitor and of two hundred",
    "machine": "thirty readers beside long work of others; some parts may be named",
    "classroom": "a class of thirty: joining, following, answering",
    "held": "memory held after a thousand texts and twenty models",
    "serving": "a backend over HTTP and on Ray Serve, against the one in this process",
    "cost": "what a thousand and a hundred thousand visitors an hour need, by a formula and played through",
    "cluster": "one and two replicas on Ray Serve, with batches and without; Ray has to be installed",
    "startup": "from process start to a page, and to the first map",
    "bytes": "what the browser receives for the first full view",
    "paint": "text submitted to painted, against BertViz",
    "site": "bytes and first paint of a static site, and the size of its texts and lessons",
    "live_site": "bytes, milliseconds and memory of the models that run in a static site",
    "notebook": "what a notebook's cell holds, and from the call to painted, against BertViz",
    "in_memory": "a text read by a model in memory",
    "hover": "hover and head change to painted",
    "long": "8,192 tokens on a ModernBERT-sized model",
    "teach": "models taught a task in the minutes that are wanted, half an hour; some rows and seeds may be named",
}
# Measurements that run only if they are named; their files are further arguments.
ON_FILES = {
    "probing": "scores of heads on annotated sentences, given a CoNLL-U file and GAP's TSV",
    "specific": "heads chosen by a link's weight and by its excess, on held-out sentences; GAP's TSV may be given",
}


def rows(names: list[str], files: list[str], seeds: list[int]) -> Iterator[ReportRow]:
    """Run the named measurements and yield their rows; a measurement that fails yields a failed row.

    ``files`` are passed to the measurements that read files, and ``seeds`` to the measurement "teach".
    """
    for name in names:
        began, what = time.perf_counter(), (MEASUREMENTS | ON_FILES)[name]
        print(f"… {name}: {what}", file=sys.stderr, flush=True)
        try:
            module, function = FUNCTIONS.get(name, (name, "measure"))
            given: dict[str, Any] = {"seeds": seeds} if name == "teach" else {}
            measure = getattr(importlib.import_module(f"bench.{module}"), function)
            for row in measure(*(files if name in TAKES else ()), **given):
                print("  " + " | ".join(row.cells()), file=sys.stderr, flush=True)
                yield row
        except Exception as error:  # a failed measurement is reported, and the others still run
            broken = f"{type(error).__name__}: {error}".splitlines()[0][:300]
            print(f"  {broken}", file=sys.stderr, flush=True)
            yield ReportRow(what, "measured", f"broke off: {broken}", False)
        print(f"  {time.perf_counter() - began:.0f} s", file=sys.stderr, flush=True)


FUNCTIONS = {  # module and function of each measurement that is not `measure` in the module of its name
    "forward": ("recording", "measure_forward"),
    "pictures": ("recording", "measure_pictures"),
    "matrix": ("recording", "measure_matrix"),
    "edits": ("recording", "measure_edits"),
    "carry": ("recording", "measure_patching"),
    "in_memory": ("recording", "measure_in_memory"),
    "luck": ("simulations", "measure_links"),
    "luck_claims": ("simulations", "measure_claims"),
    "machine": ("one_machine", "measure"),
    "terms": ("score_terms", "measure"),
    "atlas": ("head_atlas", "measure"),
    "memory": ("server", "measure_memory"),
    "classroom": ("one_machine", "measure_classroom"),
    "cost": ("serving", "measure_cost"),
    "notebook": ("bertviz_page", "measure_notebook"),
    "long": ("hover", "measure_long"),
    "site": ("static_site", "measure"),
    "live_site": ("static_site", "measure_live"),
    "bytes": ("first_paint", "measure_bytes"),
    "paint": ("first_paint", "measure_paint"),
    "startup": ("first_paint", "measure_startup"),
    "serving": ("serving", "measure_serving"),
    "cluster": ("serving", "measure_cluster"),
    "reruns": ("reruns", "measure_reruns"),
    "held": ("reruns", "measure_held"),
    "probing": ("probing", "measure_scores"),
    "specific": ("probing", "measure_excess"),
}
TAKES = {*ON_FILES, "teach", "machine", "terms", "atlas"}  # measurements that take further arguments: files or parts


def main() -> int:
    """Run the measurements and return the exit status: 1 if a limit is missed, else 0."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"of {', '.join(MEASUREMENTS)}; all of these by default"
    )
    parser.add_argument("--seeds", type=int, nargs="+", default=[0], metavar="SEED", help="of teach: a run each")
    asked = parser.parse_args()
    given = asked.names
    named = [name for name in given if name in MEASUREMENTS | ON_FILES]
    files = [name for name in given if name not in named]
    if files and not TAKES.intersection(named):
        parser.error(f"There is no measurement {files[0]!r}; there are {', '.join(MEASUREMENTS | ON_FILES)}.")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    where, command = machine(), " ".join(["python -m bench", *sys.argv[1:]])
    found = list(rows(named or list(MEASUREMENTS), files, asked.seeds))
    print(f"## {date.today().isoformat()} · `{command}`\n\n{where}.\n\n{table(found)}")
    return int(any(row.passed is False for row in found))


if __name__ == "__main__":
    sys.exit(main())
