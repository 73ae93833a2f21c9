"""Trainings that visitors ask for: what was asked, how it stands, and a queue that runs one at a time.

Importing this needs neither torch nor transformers: pages do, and the training itself is a process of its own.
"""
