"""From the findings of all partitions to incidents: judging, folding, causes and effects."""
