"""Publication: `run_outbox`, `runs.state` and the view that gives each event its `published_at`."""

from alembic import op

from runyard.stores.migrations.upgrade import run_script

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    run_script(op.get_bind(), "0002_outbox")
