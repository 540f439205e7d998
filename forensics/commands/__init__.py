"""The commands, one file each; forensics.cli loads the one that is asked for."""
