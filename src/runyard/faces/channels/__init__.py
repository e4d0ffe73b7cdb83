"""The channels face (S3): people and agents in channels and DMs, what agents remember, and one stream of all events."""
