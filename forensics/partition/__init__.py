"""Judgements on one partition: elections, losses, absences, lineages, and the verdict."""
