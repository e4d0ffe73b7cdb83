"""What operators and background tasks need: retention, an overview, keys, rate limits."""
