"""A fuzzer guided by coverage over every reader: `python -m tests.fuzzing` (docs/hostile.md). pytest does not collect it."""
