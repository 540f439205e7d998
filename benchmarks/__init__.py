"""What the tool costs beside what others cost for the same: `python -m benchmarks`, and docs/performance.md of what it found."""
