"""What can be asked of a model: several outputs, explanations, calibrated confidence."""
