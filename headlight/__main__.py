"""Entry point of ``python -m headlight``, for use without the installed command."""

import sys

from headlight.command import main

if __name__ == "__main__":
    sys.exit(main())
