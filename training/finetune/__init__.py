"""A model learns a task from labelled texts: a class for each text, or a tag for each word."""
