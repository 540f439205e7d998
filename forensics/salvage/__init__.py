"""Lost records brought back from collected disks: the one road on which records' bodies are read, and only on request."""
