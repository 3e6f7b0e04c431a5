"""The front page, its first steps, and what came in lately."""
