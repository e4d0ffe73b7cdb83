"""The log of a run: the journal writes it, the tail and the streams follow it, the outbox publishes it."""
