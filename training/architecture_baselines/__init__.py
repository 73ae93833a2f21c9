"""Attention and its rivals: three small networks with as many numbers each, trained on the same four tasks.

What is asked, and what comes of it, is plain Python in `training/jobs/baseline_runs.py`, which pages may read.
"""
