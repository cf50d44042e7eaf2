"""Compiled passes over examples, and what runs them."""
