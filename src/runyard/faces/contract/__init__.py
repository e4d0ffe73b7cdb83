"""The contract face (S2): any agent as a service that takes a task and answers one envelope, at once or as a stream."""
