"""Python agents: an `async def` function that gets a `Context`.

`runner.py` calls the function in its own task and turns its return value into the run's output. Its calls are recorded
by `durable/`.
"""
