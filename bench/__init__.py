"""Measures Runyard: `python -m bench` against a bare FastAPI stream, `bench.large` with large databases, `bench.rivals`
against other servers. `python -m bench.report` compares the results with the targets.

`servers` starts what is measured and `client` measures it. `cases` and `scaling` hold the measurements. Two of
`scaling` run on their own: `bench.scaling.executors` and `bench.scaling.shards`.
"""
