"""The chats face (S1): chats, their interactions as streams, approvals, cancel, edit, and checkpoints."""
