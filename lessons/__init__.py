"""Lessons: files written by teachers, and their questions, whose answers are computed from the model."""
