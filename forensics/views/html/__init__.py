"""The report as one self-contained HTML page.

Here: page (content), details (single partitions), drawing (lanes on a time axis), safe (escaping of text and data), and the templates,
styles and scripts. Not here: any fact: a page shows the content of the report and the case.
"""
