"""The trend explorer and its data."""
