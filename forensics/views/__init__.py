"""The report: one document, and the forms it is shown in."""
