"""The buses: memory, Postgres, Redis, NATS. Only this package and `stores` import drivers."""
