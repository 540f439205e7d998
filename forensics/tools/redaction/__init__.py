"""Evidence that may be shared: a copy of a bundle in which names are replaced consistently, so that it shows the same losses.

Here: what readers take from the evidence (reading), the names to replace and the rules of free text (names, stand_ins), the words that
Kafka itself uses (vocabulary), the constant text of its statements (in_place), rewriting of logs (logs), of other text (text) and of
segments (segments), the archive that is made of them (bundle), and the check of a finished copy (check). Not here: options and words
(forensics.commands.redact), or the meaning of the evidence.

A text stays if it is Kafka's own at the place where Kafka prints it, or a value that a reader takes from its place: the code does not
search for names, it lets through what is known to be harmless.
"""
