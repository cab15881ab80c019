"""Measures this daemon beside a peer of the same kind, in the same run, as ratios (ours / theirs).

`docs/benchmarks.md` says what each figure means. The pieces: `daemons` (how to start and drive each one), `load` and
`generator` (the readers and clients, in a process of their own), `processes` (what the kernel knows), `measures`, `report`.
"""
