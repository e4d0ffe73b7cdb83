"""Commands that start a process which stays: `dev`, `serve` and `worker`."""
