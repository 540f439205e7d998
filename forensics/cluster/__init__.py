"""Judgements on the cluster: incidents, failed replicas, balance, and what would repair it."""
