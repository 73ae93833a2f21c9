"""The command `python -m tests.fuzz`; see tests/fuzz/running.py."""

import sys

from tests.fuzz.running import main

if __name__ == "__main__":  # The child processes import their own module, not this module.
    sys.exit(main(sys.argv[1:]))
