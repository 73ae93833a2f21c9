"""Computation outside of the app's process: message format, subprocesses, HTTP service and cluster.

Each model from the hub runs in its own subprocess.
"""
