"""The choices of a bus. Only here and in `stores` is a driver imported."""
