"""``check_problem``: tests of problems written by users."""
