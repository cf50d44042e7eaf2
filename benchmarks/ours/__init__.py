"""What we claim ourselves."""
