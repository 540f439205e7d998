"""One partition's story: its timeline as entries in the order of their cause, each with the lanes of the brokers after it.

Made inside Spark where the partition's events are; only its rows, folded and bounded, come to the driver. Here: assembly (the
order), runs (of brokers), words, step (schemas), narration (lanes and folding). Not here: how a story looks (views.lanes).
"""
