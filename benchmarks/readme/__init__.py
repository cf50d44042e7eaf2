"""The figures of README and of ``docs/benchmarks.md``: measured, kept in one file, and written."""
