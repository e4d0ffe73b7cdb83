"""Tools that come with Runyard: search in documents, files of a thread, and code in a sandbox."""
