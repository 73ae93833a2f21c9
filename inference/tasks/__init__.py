"""What can be asked of a model besides its attention, each a frozen value with its answer. Knows no torch."""
