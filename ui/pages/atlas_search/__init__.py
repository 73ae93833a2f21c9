"""The view Word pairs."""
