"""The compare page and its reports."""
