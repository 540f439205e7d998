"""The commands, one file each; forensics.cli loads only the requested one."""
