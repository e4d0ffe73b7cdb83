"""Agents: how they are declared, and the runners that take a folded log and go on from it. No storage, no HTTP."""
