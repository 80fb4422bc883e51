"""Tools for people: each module here with a `main` is a subcommand of `tile`."""
