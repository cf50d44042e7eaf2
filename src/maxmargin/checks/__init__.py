"""``check_problem`` and what it asks of a problem."""
