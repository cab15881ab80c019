"""Compares this daemon with a similar one, or with another commit, in the same run, as ratios.

`docs/contributing/benchmarks.mdx` explains each figure. Modules: `daemons` (how to start and drive each one), `load` and `generator`
(readers and clients, in a separate process), `processes` (kernel statistics), `measures`, `turns`, `report`; `commits` and
`comparison` for two commits; `profile` for profiling.
"""
