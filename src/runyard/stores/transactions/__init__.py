"""Transaction scripts: one for each operation of the store, the same for both databases.

A script is a coroutine over a `Tx`. On Postgres it awaits round trips; on SQLite it runs without waiting in the
writer's thread. It locks in the order of `runyard.store` (lanes sorted, then runs sorted), reads, applies the pure
rules of `domain`, and writes. It awaits only the database.
"""
