"""The laboratory: a search engine that makes runs, and five papers done again."""
