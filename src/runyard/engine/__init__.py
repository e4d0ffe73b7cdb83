"""The engine: everything that happens to a run, without HTTP and without SQL.

Reading order: `intake/` queues a run, `running/` claims and executes it, `log/` writes its events and lets clients
follow them. `control/` cancels, decides, expires and deletes. `channels/` is for conversations of people and agents,
`queries/` for reading. `access.py` checks API keys, `limits.py` sizes and queues, `background.py` keeps loops alive,
`engine.py` is what faces get. Stores persist, faces translate; the engine decides.
"""
