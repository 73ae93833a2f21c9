"""Benchmarks of the app: `make bench`, or `python -m bench NAME ...` for some of them.

Every figure that has a limit is a ratio. Both sides run alternately (A B A B ...) on the same input, in the same
run and on the same machine, so that other load affects both. Results that miss their limit are printed too.
"""
