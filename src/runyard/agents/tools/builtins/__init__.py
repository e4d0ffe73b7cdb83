"""Tools that come with Runyard.

`documents.py` searches a collection of documents. `files.py` reads and writes text files of a thread's workspace, and
`code.py` runs Python in the sandbox. The last two always need approval (`guarded.py`).
"""
