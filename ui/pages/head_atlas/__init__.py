"""The view Head atlas."""
