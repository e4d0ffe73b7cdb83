"""Commands on what a server stores: runs, approvals, waits, events, keys, and the state of the installation."""
