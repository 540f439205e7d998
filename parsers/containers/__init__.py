"""Every file of the evidence as a stream of bytes, whatever directory, archive or compression it lies in.

Here: the walk (walk), its division into units of work (units), and one module for each thing a file may lie in. Not here:
what a file is (parsers.sniff) or means (the readers).
"""
