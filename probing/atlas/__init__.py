"""Head atlases, which describe every head of a model by statistics and strongest links over many texts."""
