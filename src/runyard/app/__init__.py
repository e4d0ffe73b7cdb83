"""A Runyard process: what the settings name is opened (`factories.py`), put together (`process.py`), made an ASGI app
(`asgi.py`) and served until a signal (`server.py`)."""
