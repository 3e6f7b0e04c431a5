"""The door: who may try a password when, and how many passwords are hashed at once."""
