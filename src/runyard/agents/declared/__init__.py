"""What a user declares: agents of every kind, their settings, their documents, and the app that holds them."""
