"""The collection that comes with steadyrank."""
