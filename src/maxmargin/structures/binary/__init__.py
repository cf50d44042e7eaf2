"""Two classes."""
