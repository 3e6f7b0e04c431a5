"""What labs and operators look after: names, events, thresholds, runs that wait, what is sent."""
