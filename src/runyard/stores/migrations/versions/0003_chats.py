"""Chats: forks of threads, `runs.detach_deadline`, approvals that expire, and `checkpoints`."""

from alembic import op

from runyard.stores.migrations.upgrade import run_script

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    run_script(op.get_bind(), "0003_chats")
