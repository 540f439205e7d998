"""Every file of the evidence as a stream of bytes, from any directory, archive or compressed file.

Here: the walk (walk), its division into units of work (units), and one module for each kind of container. Not here: the kind of a file
(parsers.sniff) or its meaning (the readers).
"""
