"""Checkpoints keep only their own part of a conversation: those of before are dropped, and made again from the log."""

from alembic import op

from runyard.stores.migrations.upgrade import run_script

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    run_script(op.get_bind(), "0013_checkpoint_parts")
