"""The chats face: chats, their interactions as streams, approvals, cancel, edit."""
