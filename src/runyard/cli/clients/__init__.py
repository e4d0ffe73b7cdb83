"""The server that commands talk to, or the database itself while no server answers. Short ids become whole ones."""
