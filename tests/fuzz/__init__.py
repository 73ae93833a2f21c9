"""Fuzz tests: every target must answer random input from outside or refuse it with a clear message."""
