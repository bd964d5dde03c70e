"""Tables, pages and figures: how things look, whatever they are about."""
