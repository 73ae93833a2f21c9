"""Head atlases: building from texts, files, search, and statistics of heads."""
