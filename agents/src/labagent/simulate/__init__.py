"""`labagent simulate`: a lab without machines, whose answers follow from a known truth."""
