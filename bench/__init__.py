"""Measures Runyard against a bare FastAPI stream, in one interleaved run: `python -m bench`."""
