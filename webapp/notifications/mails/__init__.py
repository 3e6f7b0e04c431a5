"""What our mails say: one file for the facts, one for the words, one a kind."""
