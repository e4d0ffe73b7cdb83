"""HTTP for every face: the app, streams, errors, limits. Knows the engine's streams; knows no face's words."""
