"""Labelled texts: a class for each, or a tag for each word; files of them, ready sets, and what is odd in them."""
