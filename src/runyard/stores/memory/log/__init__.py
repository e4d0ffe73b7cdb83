"""The log: append, read, publish, snapshots, and pushes to clients."""
