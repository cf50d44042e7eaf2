"""One file is one kind of trial; its ``KIND`` is found by itself."""
