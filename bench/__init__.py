"""Benchmarks of the app: `make bench`, or `python -m bench NAME ...` for some of them.

A comparison is a ratio of two measurements on the same input and machine. Both run alternately (A B A B ...), so that
other load affects both. Results that miss their limit are printed, too.
"""
