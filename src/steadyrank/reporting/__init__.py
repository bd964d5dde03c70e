"""One page from many studies."""
