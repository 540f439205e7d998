"""One partition: its events in order, its states, replicas and disks, and the timeline built from them."""
