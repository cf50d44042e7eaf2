"""One label per token of a sequence."""
