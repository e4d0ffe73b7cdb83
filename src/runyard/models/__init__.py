"""Implementations of `runyard.models.model.Model`.

`litellm.py` asks every provider that litellm supports; `loading.py` imports litellm beside the event loop.
`scripted.py` answers from data, for demos and tests.
"""
