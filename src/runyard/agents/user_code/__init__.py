"""A user's code: the current call, threads, frames, tracebacks, and tasks whose errors end only their own run."""
