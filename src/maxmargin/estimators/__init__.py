"""What all scikit-learn estimators share; those of a structure are in its folder."""
