"""Lessons: files written by teachers, their questions, and answers that are computed from the model."""
