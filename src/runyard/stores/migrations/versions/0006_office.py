"""The office: channels and DMs, turns in a group, agents and their memory, and the feed."""

from alembic import op

from runyard.stores.migrations.upgrade import run_script

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    run_script(op.get_bind(), "0006_office")
