"""The inbox and the page of an alert."""
