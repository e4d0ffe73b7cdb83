"""Read positions of people, and the times at which messages were edited and deleted."""

from alembic import op

from runyard.stores.migrations.upgrade import run_script

revision = "0023"
down_revision = "0022"


def upgrade() -> None:
    run_script(op.get_bind(), "0023_channels_for_people")
