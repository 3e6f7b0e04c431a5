"""What a lab says about its own data: names, events, thresholds, runs that wait."""
