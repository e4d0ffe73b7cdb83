"""The native face: core events in full, for the page, the command line and `runyard.Client`."""
