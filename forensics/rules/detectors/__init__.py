"""Detectors of families: `judges(kind, declaration)` of each module makes the functions of a rule from KIND.toml, those of forensics.rules.

Here: one module for each family. Not here: the declarations, which are next to their words in forensics/rules/KIND.toml, or the functions
that these name (conditions).
"""
