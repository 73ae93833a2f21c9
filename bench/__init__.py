"""What the app costs, measured: `make bench`, or `python -m bench NAME ...` for some of it.

Every figure that has a limit is a ratio: both sides run in turns (A B A B ...) on the same input, in the same run, on
the same machine, so that what else the machine does weighs on both. Losses are printed like wins.
"""
