"""Parse trees of a context-free grammar."""
