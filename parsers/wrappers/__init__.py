"""What stands around a log's lines, and how it is taken off: container runtimes, journals, syslog, collectors, JSON.

Here: from the lines of a file to the plain lines in them (unwrapper), the forms of wrappers (forms), those of which many lines are read
at once (runs), records that are JSON (json_records) and what all of them give (peeled). Not here: what the lines hold (parsers.layouts)
or what they mean (parsers.catalogue).
"""
