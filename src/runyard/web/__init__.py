"""HTTP for every face: the app, routes, authentication, limits, errors, streams. Knows no face."""
