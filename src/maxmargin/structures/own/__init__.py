"""Structures of the user."""
