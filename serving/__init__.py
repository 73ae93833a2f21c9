"""Computation outside the app's process: message format, subprocesses for hub models, HTTP service, cluster."""
