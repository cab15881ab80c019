"""Skills for sessions: fetched or copied from their sources, checked, and laid out where agents find them.

Knows nothing about agents and sessions. What a source contains is never run, and never written outside the folder that the caller
names.
"""
