"""What the API takes and gives. Types are strict: a number is not a string, and never NaN."""
