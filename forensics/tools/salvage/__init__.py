"""Lost records copied from collected disks. This is the only code that reads the bodies of records, and only on request."""
