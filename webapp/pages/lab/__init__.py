"""What a lab maintains about its own data: names, events, thresholds, runs that wait."""
