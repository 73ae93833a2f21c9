"""Classes of students: a teacher opens a class, and students follow the teacher or explore alone.

In the code, a class of students is a room. The package is independent of pages and models: a view is a URL of the app,
and an answer is a short text.
"""
