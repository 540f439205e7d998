"""Evidence that may be handed on: a copy of a bundle in which names are replaced, consistently, so that it says of losses what it said.

Here: the words Kafka itself uses (vocabulary), the names that are replaced and by what (names), text (text) and segments (segments) anew, and the
archive that is made of them, checked (bundle). Not here: options and words (forensics.commands.redact), or what anything means.

What is not Kafka's own word, a number or a random id does not pass: names are not searched for, what is known to be harmless is let through.
"""
