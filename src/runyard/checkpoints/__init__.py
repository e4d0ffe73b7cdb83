"""Checkpoints: copies of finished chat interactions in a table or in files. Runs never resume from them."""
