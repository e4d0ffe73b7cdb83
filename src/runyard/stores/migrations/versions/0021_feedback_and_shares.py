"""Feedback on runs, and links that show a thread to readers without a key."""

from alembic import op

from runyard.stores.migrations.upgrade import run_script

revision = "0021"
down_revision = "0020"


def upgrade() -> None:
    run_script(op.get_bind(), "0021_feedback_and_shares")
