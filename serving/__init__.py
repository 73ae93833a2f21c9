"""The backend elsewhere: as bytes, in a process apart for foreign models, over HTTP, and on a cluster."""
