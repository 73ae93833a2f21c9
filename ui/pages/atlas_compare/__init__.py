"""The view Compare atlases."""
