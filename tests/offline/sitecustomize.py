"""A guard for processes that tests start; Python imports this module at its start if PYTHONPATH contains the folder."""

import sys

import loopback

loopback.install(lambda sentence: print(sentence, file=sys.stderr, flush=True))
