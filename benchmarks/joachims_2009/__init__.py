"""Joachims, Finley and Yu (2009): Cutting-plane training of structural SVMs."""
