"""The HTTP agent contract: its shapes, a client, and a conformance checker.

`wire.py` defines requests and responses and their JSON Schema. `client.py` calls a service that implements the
contract, with `result.py` to read its answers, `timeouts.py` for its limits and `breaker.py` to stop calling a failing
one.

The checker uses only the standard library: `probe.py` sends requests and keeps the answers, `checks.py` has one
function per clause, `transcript.py` reads a stream strictly, and `report.py` prints the findings.
"""
