"""Graphs and sets of labels, against the programs that users have today."""
