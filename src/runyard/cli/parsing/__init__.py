"""The words of a command line: functions that are commands, their options, and the parser of one command."""
