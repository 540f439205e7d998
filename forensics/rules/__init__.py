"""All rules, one file for each kind of finding."""

from __future__ import annotations

from forensics.model import Rule
from forensics.rules import (
    broker_crash,
    broker_fenced,
    checkpoint_corrupt,
    checkpoint_inconsistent,
    controlled_shutdown,
    controller_change,
    data_loss,
    evidence_conflict,
    evidence_gap,
    hw_regression,
    hw_stuck,
    isr_flapping,
    log_dir_failure,
    log_divergence,
    new_replica,
    offline_partition,
    planned_reassignment,
    preferred_election,
    retention,
    topic_deleted,
    topic_recreated,
    unclean_election,
    under_min_isr,
    under_replicated,
    unrecognised_lines,
    zombie_leader,
)

RULES: tuple[Rule, ...] = tuple(
    module.RULE
    for module in (
        data_loss,
        unclean_election,
        log_divergence,
        zombie_leader,
        hw_stuck,
        hw_regression,
        offline_partition,
        under_min_isr,
        under_replicated,
        isr_flapping,
        broker_crash,
        broker_fenced,
        controlled_shutdown,
        controller_change,
        log_dir_failure,
        planned_reassignment,
        new_replica,
        preferred_election,
        topic_deleted,
        topic_recreated,
        retention,
        checkpoint_corrupt,
        checkpoint_inconsistent,
        evidence_conflict,
        evidence_gap,
        unrecognised_lines,
    )
)
"""In the order they are listed; findings are ordered by severity first."""
