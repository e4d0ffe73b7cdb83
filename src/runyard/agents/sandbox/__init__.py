"""What the sandbox is made of: bubblewrap's words, a system call filter, users of its own, a folder, a trial."""
