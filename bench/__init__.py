"""Measures Runyard: `python -m bench` against a bare FastAPI stream, `bench.large` with large databases, `bench.rivals`
against other servers. `python -m bench.report` compares the results with the targets.
"""
