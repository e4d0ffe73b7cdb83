"""Starting Runyard.

`factories.py` opens what the settings name: store, bus, checkpoints, exporter of traces. `wiring.py` builds the parts
of a process from it. `process.py` connects, starts and stops them; `startup_checks.py` runs first, and `hints.py` wakes
workers in this process and in others. `asgi.py` makes an ASGI app of a process and all faces. `server.py` serves it
until a signal, or runs a worker without HTTP.
"""
