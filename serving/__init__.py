"""The backend in other processes: what is asked and answered as bytes, and a process apart for foreign models."""
