"""A control plane for sandboxes that share a log: starts one when a session needs it, ends idle ones, replaces dead ones.

It uses the public API of the daemons and a `Provider`, and keeps no state of its own: the provider knows what exists, and the log
has what happened. The daemon never imports it.
"""
