"""The face for AG-UI (`/api/ag-ui`): a thread is a thread, a run of the client is a part of a run."""
