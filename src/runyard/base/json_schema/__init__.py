"""JSON Schemas of values that come from outside: from a person, a client, a model.

`schema_of` describes a Python type, `check_schema` refuses a schema that is wrong or too costly, `check_value` says
where a value does not fit, `convert` makes the typed value. All of them answer within a fraction of a second, also for
a hostile schema or value:

- A schema has at most 64 KB and 32 levels. Its references stay inside it and never lead back to the same value.
- Patterns are matched in linear time (Rust's `regex`). Back-references and look-around are therefore refused.
- Before a value is checked, the work is counted. A value that costs too much is refused and not checked.

`format` is an annotation and is not checked. The errors are `Invalid`. They name a place and a rule, and never repeat
the value.
"""

from runyard.base.json_schema.python_types import SchemaSource, convert, schema_of
from runyard.base.json_schema.values import check_schema, check_value

__all__ = ["SchemaSource", "check_schema", "check_value", "convert", "schema_of"]
