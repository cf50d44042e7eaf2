"""What ``maxmargin demo`` shows: codes, words and trees, each part alone and all parts together."""
