"""What examples are: labels, sequences, transitions, trees, and generators of small data."""
