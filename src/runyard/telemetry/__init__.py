"""Telemetry of a process: log lines, metrics, and spans if an exporter is set."""
