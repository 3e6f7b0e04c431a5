"""What checks this repository, and is no part of the application."""
