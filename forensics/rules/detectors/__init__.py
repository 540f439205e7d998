"""Detectors of families of kinds: `judges(kind, declaration)` of a module makes the functions that find a kind from its declaration.

Here: nothing but the modules. Not here: the declarations (forensics/rules/KIND.toml).
"""
