"""Wrappers around a log's lines, and their removal: container runtimes, journals, syslog, collectors, JSON.

Here: from the lines of a file to the plain lines in them (unwrapper), the forms of wrappers (forms), names before each line (prefixes),
forms that are read for many lines at once (runs), records that are JSON (json_records) and the common result type (peeled). Not here: the
layout of the lines (parsers.layouts) or their meaning (parsers.catalogue).
"""
