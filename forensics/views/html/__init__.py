"""The report as one HTML page that needs nothing beside itself.

Here: page (what is on it), details (partitions one by one), drawing (lanes on a line of time), safe (text and data on their way into it), and the
templates, styles and scripts. Not here: any fact: a page says what the report and the case say.
"""
