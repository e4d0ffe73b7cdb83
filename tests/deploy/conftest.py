"""A database for the pods of the rendered chart: the rendered migration made its schema."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import pytest

from tests.deploy.chart import render
from tests.deploy.rendered_pods import running
from tests.support.servers.postgres_server import PostgresServer


@pytest.fixture(scope="session")
def template(postgres: PostgresServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The name of a database that the chart's Job has migrated."""
    name = f"deploy_template_{uuid.uuid4().hex}"
    rendered = render({"secret": {"data": {"RUNYARD_DATABASE_URL": postgres.create_database(name)}}})
    with running(rendered, "migrate", tmp_path_factory.mktemp("template") / "migrate") as job:
        assert job.wait() == 0, job.log
    assert "schema went from nothing to" in job.log
    yield name
    postgres.drop_database(name)


@pytest.fixture
def migrated_database(postgres: PostgresServer, template: str) -> Iterator[str]:
    """The DSN of a migrated database of the test's own."""
    name = f"deploy_{uuid.uuid4().hex}"
    yield postgres.create_database(name, template)
    postgres.drop_database(name)
