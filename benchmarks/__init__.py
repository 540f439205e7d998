"""Resource use of the tool compared with other programs for the same task: `python -m benchmarks`, and its results in
docs/performance.md."""
