"""Experiments with graphs, grids and sets of labels."""
