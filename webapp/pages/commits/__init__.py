"""The list of commits and the page of a commit."""
