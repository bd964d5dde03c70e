"""Bad input: mutations, and what each reader must do with them."""
