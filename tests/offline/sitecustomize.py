"""Python imports this at its start where this folder is on PYTHONPATH: guards the processes that tests start."""

import sys

import loopback

loopback.install(lambda sentence: print(sentence, file=sys.stderr, flush=True))
