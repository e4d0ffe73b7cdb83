"""What commands talk to: the server, or the database itself while no server answers. Short ids become whole ones."""
