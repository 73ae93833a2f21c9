"""Labelled texts for classification and tagging: formats, bundled sets, checks and evaluation."""
