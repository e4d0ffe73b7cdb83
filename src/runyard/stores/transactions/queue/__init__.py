"""The queue: posts become runs, workers claim them, and people cancel or steer them."""
