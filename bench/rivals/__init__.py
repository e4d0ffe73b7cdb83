"""Other servers at the same work: 200 tiny events to a client over SSE, each rival served by a small app here.

The apps (`*_app.py`, and `face.py` which they share) run in a separate environment, `.venv-rivals`, and know
nothing of Runyard."""
