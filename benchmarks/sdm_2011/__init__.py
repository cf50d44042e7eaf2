"""Balamurugan et al. (2011): A sequential dual method for structural SVMs."""
