"""Measures this daemon beside a peer of the same kind, or beside another commit of its own, in the same run, as ratios.

`docs/benchmarks.md` says what each figure means. The pieces: `daemons` (how to start and drive each one), `load` and
`generator` (the readers and clients, in a process of their own), `processes` (what the kernel knows), `measures`, `turns`,
`report`; `commits` and `comparison` for two commits, `profile` for where the time goes.
"""
