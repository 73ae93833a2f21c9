"""The view Build atlas."""
