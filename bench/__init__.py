"""Benchmarks and experiments, run from the project's folder as `python -m bench.NAME`.

Speed and memory against named peers; and what the documents claim of intervals, tests, accuracy,
faults and invariances, measured at length. The tests run the same experiments on a small budget.
"""
