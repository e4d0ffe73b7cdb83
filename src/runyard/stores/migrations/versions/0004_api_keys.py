"""`api_keys`: who may come in."""

from alembic import op

from runyard.stores.migrations.upgrade import run_script

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    run_script(op.get_bind(), "0004_api_keys")
