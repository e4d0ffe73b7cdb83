"""What operators and background tasks need: retention, maintenance, keys, rate limits."""
