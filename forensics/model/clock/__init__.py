"""Which line, written by whom, as its n-th, at which UTC time: sources, copies, order, zones, steps and errors of clocks."""
