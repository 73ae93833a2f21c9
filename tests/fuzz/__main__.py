"""python -m tests.fuzz: see tests/fuzz/running.py."""

import sys

from tests.fuzz.running import main

if __name__ == "__main__":  # the processes that it starts import their module, not this one
    sys.exit(main(sys.argv[1:]))
