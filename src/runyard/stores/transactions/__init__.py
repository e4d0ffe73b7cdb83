"""What happens inside a transaction: one script per operation of the store, the same for both databases.

A script is a coroutine over a `Tx`. On Postgres it awaits round trips; on SQLite it runs straight through in the
writer's thread. It locks in the order of `runyard.store` (lanes sorted, then runs sorted), reads, lets the pure rules
of `domain` decide, and writes back. It never waits for anything but the database.
"""
