"""Checkpoints keep only their own part of a conversation: those of before are dropped, and made again from the log."""

from alembic import op

from runyard.stores.migrations.upgrade import run_script

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    run_script(op.get_bind(), "0011_checkpoint_parts")
