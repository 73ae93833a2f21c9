"""What a removal is compared with: random sets, as many and from the same seed wherever something is removed."""

RANDOM_SETS = 100
SEED = 0
