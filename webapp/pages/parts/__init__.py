"""What several pages show or read, each once."""
