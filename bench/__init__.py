"""Measures Runyard: `python -m bench` against a bare FastAPI stream, `bench.large` when there is much in the database,
`bench.rivals` against others, and `python -m bench.report` says which targets were met.
"""
