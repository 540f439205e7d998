"""One module for each format of file, except log files: checkpoints, segments, tool output and so on."""
