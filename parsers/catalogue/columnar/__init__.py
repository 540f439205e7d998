"""The second log reader, which reads many lines at once as Arrow columns."""
