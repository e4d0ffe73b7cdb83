"""Titles of threads, and a full-text index over messages."""

from alembic import op

from runyard.stores.migrations.upgrade import run_script

revision = "0020"
down_revision = "0019"


def upgrade() -> None:
    run_script(op.get_bind(), "0020_search")
