"""Judgements on the cluster: incidents, failed replicas, balance, and repairs."""
