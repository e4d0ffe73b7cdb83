"""Completion in shells. A script in the shell asks `runyard __complete WORDS` for what may follow, and shows it.

The answer has one candidate in a line, a tab, and what it means. The line `:files` stands for names of files.
"""
