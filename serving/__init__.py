"""The remote backend: wire format, subprocesses for hub models, the HTTP service, and the cluster."""
