"""Scripted agents: they play a list of events from data, for demos and tests.

`runner.py` plays the script; `agents/declared/script.py` describes and checks its entries.
"""
