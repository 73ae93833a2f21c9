"""`python -m headlight`: the command `headlight`, where it is not installed."""

import sys

from headlight.command import main

if __name__ == "__main__":
    sys.exit(main())
