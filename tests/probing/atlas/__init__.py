"""Tests of head atlases."""
