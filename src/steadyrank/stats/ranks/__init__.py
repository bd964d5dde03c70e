"""How alike two rankings or two judges are."""
