"""Detectors: functions that find several kinds, each as its file declares."""
