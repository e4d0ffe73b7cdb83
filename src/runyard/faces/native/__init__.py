"""The native face: core words and the whole envelope, for the page, the command line and `runyard.Client`."""
