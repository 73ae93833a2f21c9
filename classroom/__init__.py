"""A class: a room that a teacher opens, students who follow or go their own way, questions and answers.

Knows no pages and no models: a view is an address of the app, an answer is a short text.
"""
