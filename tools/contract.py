"""The microscope's view options for its scripts: viz/components/explore/contract.js.

make contract                 write the file from the declarations in viz/components/explore/options.py
make contract ARGS=--check    fail if the file differs from the declarations; change nothing
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path

from attention.measures import MEASURES
from viz.components.explore.options import DECLARED
from viz.options import Option

FILE = Path(__file__).resolve().parent.parent / "viz" / "components" / "explore" / "contract.js"
HEADER = """// The view options, their values and their defaults. `make contract` writes this file from options.py.

/**
 * The defaults, which a view has before any text arrives.
 * @type {{
"""


def contract(declared: Mapping[str, Option] = DECLARED) -> str:
    """Return the content of contract.js for the declared view options.

    >>> print(contract({"size": Option("s", choices={"s": "Small", "l": "Large"})}).partition("@type ")[2])
    {{
     *   size: "s"|"l",
     * }}
     */
    export const DEFAULTS = {
      size: "s",
    };
    <BLANKLINE>
    """
    types = "".join(f" *   {name}: {js_type(one)},\n" for name, one in declared.items())
    values = "".join(f"  {name}: {_quote(one.default)},\n" for name, one in declared.items())
    return f"{HEADER}{types} * }}}}\n */\nexport const DEFAULTS = {{\n{values}}};\n"


def js_type(declared: Option) -> str:
    """Return the JavaScript type of an option: a union of its values, or string if the values include measures.

    The names of measures reach the script with the data. A new measure therefore does not change this type.

    >>> js_type(DECLARED["order"]), js_type(DECLARED["scale"])
    ('string', '"sqrt"|"linear"')
    """
    if {measure.name for measure in MEASURES} & set(declared.choices):
        return "string"
    return "|".join(map(_quote, declared.choices))


def _quote(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)


def main(arguments: list[str]) -> int:
    """Write contract.js; with --check, only compare it and return 1 if it differs."""
    wanted = contract()
    if "--check" not in arguments:
        FILE.write_text(wanted, encoding="utf-8")
        return 0
    if FILE.read_text(encoding="utf-8") == wanted:
        return 0
    print("viz/components/explore/contract.js differs from options.py; run make contract.")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
