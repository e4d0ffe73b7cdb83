"""What ends or changes a run from outside: cancel, approvals, deadlines, disconnects, the reaper, retention."""
