"""The data types of examples: labels, sequences, transitions, trees; generators of small data."""
