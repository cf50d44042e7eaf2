"""Several classes."""
