"""Evidence that may be shared: a copy of a bundle in which names are replaced consistently, so that it shows the same losses.

Here: the words that Kafka itself uses (vocabulary), the names to replace and their replacements (names), rewriting of text (text) and of
segments (segments), and the archive that is made of them, checked (bundle). Not here: options and words (forensics.commands.redact), or the
meaning of the evidence.

Only Kafka's own words, numbers and random ids are kept: the code does not search for names, it lets through what is known to be
harmless.
"""
