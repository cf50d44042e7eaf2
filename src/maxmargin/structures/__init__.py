"""One folder per structure."""
