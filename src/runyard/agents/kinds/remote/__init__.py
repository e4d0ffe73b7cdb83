"""Remote agents: services that implement the HTTP agent contract.

`runner.py` runs one as a python agent that makes one recorded call. The declaration and the call itself are in
`agents/declared/remote.py`, the HTTP client in `runyard/contract/`.
"""
