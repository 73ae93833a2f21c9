"""Models in other processes: wire format, subprocesses for hub models, the HTTP service, and the cluster."""
