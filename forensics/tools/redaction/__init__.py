"""Evidence that may be shared: a copy of a bundle in which names are replaced consistently, so that it shows the same losses.

Here: the words that Kafka itself uses (vocabulary), the numbers that stay (numbers), the names to replace and their replacements (names,
stand_ins), rewriting of text (text) and of segments (segments), the archive that is made of them (bundle), and the search for names that are
left in it (search). Not here: options and words (forensics.commands.redact), or the meaning of the evidence.

Only Kafka's own words, numbers that a reader takes, and random ids are kept: the code does not search for names, it lets through what is
known to be harmless.
"""
