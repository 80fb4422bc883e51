"""Parts of the language whose interface may still change."""
