"""Plumbing that knows neither retrieval nor statistics: kernels, threads, files."""
