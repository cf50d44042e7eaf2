"""The tasks and the page of ``maxmargin demo``: codes, words and trees."""
