"""Agents and their jobs."""
