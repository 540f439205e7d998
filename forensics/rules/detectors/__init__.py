"""Detectors: each finds all kinds of one family, from what their files declare.

Here: a module for each family, with `judges(kind, declared, module)`: the attributes of the Rule that find. Not here: the declarations, which
are next to this package.
"""
