"""Lessons: files that a teacher writes, what they ask, and answers that are computed from the model."""
