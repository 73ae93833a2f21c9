"""Unusual inputs: hostile texts, mutated valid files, values of any shape.

Mutations are lists of small edits, so that hypothesis can shrink a finding to the edits that it needs.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

MARKUP = (
    "<img src=x onerror=window.pwned=1>",
    "</script><script>window.pwned=1</script>",
    "javascript:alert(1)",
    "{{x}}",
)
ODD = (
    "\0",
    "\ud800",
    "\ufeff",
    "\u202e",
    "\u2028",
    "\U0001f468\u200d\U0001f469",
    "e\u0301" * 40,
    "动物",
    "\r",
    "\x07",
    "$x^2$",
)
NUMBERS = ("-1", "0", "1e999", "nan", "007", "٣", "²", "9" * 30, "9" * 5000, "1/0", "0x10", "-0.0", "1_000", " 5")
PIECES = (
    *MARKUP,
    *ODD,
    *NUMBERS,
    "",
    "=1+1",
    "a" * 3000,
    "../../etc/passwd",
    "%00",
    '"',
    "\t",
    "\n\n",
    ",",
    ";",
    "[",
    "#",
    "true",
)
LONGEST = 20_000  # Bytes by which a mutated file may exceed its seed.

texts: SearchStrategy[str] = st.one_of(
    st.text(max_size=60),
    st.sampled_from(PIECES),
    st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=8)), max_size=5).map("".join),
)
whole_texts: SearchStrategy[str] = texts.map(lambda text: text.encode("utf-8", "replace").decode())
scalars: SearchStrategy[Any] = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 30), st.integers(), st.floats(), texts, st.just([]), st.just({})
)
values: SearchStrategy[Any] = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(texts, inner, max_size=4)),
    max_leaves=8,
)

Edit = tuple[str, int, int, bytes]
edits: SearchStrategy[list[Edit]] = st.lists(
    st.tuples(
        st.sampled_from(("over", "insert", "cut", "end", "twice")),
        st.integers(0, 2**20),
        st.integers(0, 64),
        st.one_of(
            st.binary(max_size=8), st.sampled_from(PIECES).map(lambda text: text.encode("utf-8", "surrogatepass"))
        ),
    ),
    max_size=6,
)


def harmed(seeds: Sequence[bytes]) -> SearchStrategy[bytes]:
    """Return a strategy for mutated valid files."""
    return st.builds(_edited, st.sampled_from(seeds), edits)


def harmed_words(*seeds: str) -> SearchStrategy[str]:
    """Return a strategy for mutated valid words of an address, and for other texts."""
    changed = harmed([seed.encode() for seed in seeds]).map(lambda raw: raw.decode("utf-8", "replace"))
    return st.one_of(whole_texts, changed)


def _edited(data: bytes, changes: list[Edit]) -> bytes:
    most = len(data) + LONGEST
    for kind, place, length, said in changes:
        at = place % (len(data) + 1)
        if kind == "over":
            data = data[:at] + said + data[at + len(said) :]
        elif kind == "insert":
            data = data[:at] + said + data[at:]
        elif kind == "cut":
            data = data[:at] + data[at + length :]
        elif kind == "end":
            data = data[:at]
        else:
            data = data[:at] + data[at : at + 40 * length] * 2 + data[at + 40 * length :]
    return data[:most]


def harmed_tree(seeds: Sequence[Any]) -> SearchStrategy[Any]:
    """Return a strategy for JSON values with replaced, deleted or repeated parts."""
    change = st.tuples(st.lists(st.integers(0, 2**16), max_size=7), st.sampled_from(("put", "drop", "twice")), values)
    return st.builds(_changed, st.sampled_from(seeds), st.lists(change, max_size=4))


def _changed(seed: Any, changes: list[tuple[list[int], str, Any]]) -> Any:
    tree = [copy.deepcopy(seed)]  # The list allows the root to be replaced too.
    for path, how, value in changes:
        holder: Any = tree
        key: Any = 0
        for step in path:
            inner = holder[key]
            if not isinstance(inner, dict | list) or not inner:
                break
            holder = inner
            key = sorted(inner, key=str)[step % len(inner)] if isinstance(inner, dict) else step % len(inner)
        if how == "put" or holder is tree:
            holder[key] = copy.deepcopy(value)
        elif how == "drop":
            del holder[key]
        elif isinstance(holder, list):
            holder.append(copy.deepcopy(holder[key]))
    return tree[0]


def queries(names: Sequence[str], words: Sequence[str] = ()) -> SearchStrategy[dict[str, str]]:
    """Return a strategy for queries: known and other names, with plausible and other values."""
    said = st.one_of(st.sampled_from((*words, "0", "1", "3", "-1", "")), whole_texts)
    return st.dictionaries(st.one_of(st.sampled_from(names), whole_texts), said, max_size=8)


Ask = Callable[[Any], object]
