"""Operations for operators and background tasks: retention, an overview, keys, rate limits."""
