"""Asking a model: several outputs, explanations, calibrated confidence."""
