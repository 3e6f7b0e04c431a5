"""What is a person's own: the account, signing in, subscriptions."""
