"""The catalog of a database as plain values, to compare two databases: everything that a query or a writer can
notice."""

import re
import sqlite3
from pathlib import Path
from typing import Any

import asyncpg

Catalog = dict[str, list[tuple[Any, ...]]]

# Without Alembic's own table and the weekly partitions.
OURS = "n.nspname = 'public' and c.relname not like 'alembic%' and c.relname !~ '^run_events_w[0-9]+'"

# Postgres 18 names what is not null after the table that had the column first; such a name means nothing.
POSTGRES = {
    "tables": f"""
        select c.relname, c.relkind::text, coalesce(c.reloptions::text, ''), c.relispartition,
               coalesce(pg_get_expr(c.relpartbound, c.oid), ''), coalesce(pg_get_partkeydef(c.oid), '')
          from pg_class c join pg_namespace n on n.oid = c.relnamespace
         where {OURS} and c.relkind in ('r', 'p', 'v', 'm', 'S')""",
    "columns": f"""
        select c.relname, row_number() over (partition by c.oid order by a.attnum), a.attname,
               format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attgenerated::text,
               coalesce(pg_get_expr(d.adbin, d.adrelid), '')
          from pg_attribute a join pg_class c on c.oid = a.attrelid join pg_namespace n on n.oid = c.relnamespace
          left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
         where {OURS} and c.relkind in ('r', 'p', 'v', 'm') and a.attnum > 0 and not a.attisdropped""",
    "indexes": f"""
        select c.relname, pg_get_indexdef(c.oid)
          from pg_class c join pg_namespace n on n.oid = c.relnamespace where {OURS} and c.relkind in ('i', 'I')""",
    "constraints": f"""
        select c.relname, case k.contype when 'n' then '' else k.conname end, k.contype::text,
               pg_get_constraintdef(k.oid)
          from pg_constraint k join pg_class c on c.oid = k.conrelid join pg_namespace n on n.oid = c.relnamespace
         where {OURS}""",
    "functions": """
        select p.proname, pg_get_function_identity_arguments(p.oid), pg_get_functiondef(p.oid)
          from pg_proc p where p.pronamespace = 'public'::regnamespace""",
    "triggers": f"""
        select c.relname, pg_get_triggerdef(t.oid)
          from pg_trigger t join pg_class c on c.oid = t.tgrelid join pg_namespace n on n.oid = c.relnamespace
         where {OURS} and not t.tgisinternal""",
}


async def of_postgres(dsn: str) -> Catalog:
    connection = await asyncpg.connect(dsn)
    try:
        return {
            part: sorted(tuple(row.values()) for row in await connection.fetch(query))
            for part, query in POSTGRES.items()
        }
    finally:
        await connection.close()


def of_sqlite(path: Path) -> Catalog:
    connection = sqlite3.connect(path)
    try:
        rows = connection.execute("select type, name, tbl_name, sql from sqlite_schema order by type, name").fetchall()
        ours = [row for row in rows if not row[1].startswith(("alembic", "sqlite_autoindex_alembic"))]
        tables = [name for kind, name, _, _ in ours if kind == "table"]

        def pragma(name: str) -> list[tuple[Any, ...]]:
            return [(table, *row) for table in tables for row in connection.execute(f"pragma {name}({table})")]

        return {
            "objects": [(kind, name, table, _without_comments(sql or "")) for kind, name, table, sql in ours],
            "columns": pragma("table_xinfo"),
            "indexes": sorted((table, *row) for table, _, *row in pragma("index_list")),
            "tables": sorted(row for row in connection.execute("pragma table_list") if row[1] in tables),
        }
    finally:
        connection.close()


def _without_comments(sql: str) -> str:
    return re.sub(r" ?([,()]) ?", r"\1", " ".join(re.sub(r"--.*", "", sql).split()))  # added columns leave spaces
