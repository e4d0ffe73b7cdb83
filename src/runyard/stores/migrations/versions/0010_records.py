"""Records as S3 and S4 draw them: times of publication, the run ledger, calls of tools with a rate limit."""

from alembic import op

from runyard.stores.migrations.upgrade import run_script

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    run_script(op.get_bind(), "0010_records")
