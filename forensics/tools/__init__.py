"""Commands that act on evidence: plan, salvage, redaction, custody, and the comparison of checkpoints."""
