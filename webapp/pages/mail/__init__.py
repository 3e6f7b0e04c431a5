"""What reaches people elsewhere: subscriptions, feeds, webhooks, the outbox."""
