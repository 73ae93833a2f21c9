"""Many sentences: how often each head finds what people annotated, with what to compare it with. Knows no torch."""
