"""The five papers: their tables and figures, made again."""
