"""The contract face: an agent as a service that takes a task and returns one envelope, whole or as a stream."""
