"""Agents arrive by themselves: found, or fetched from their publishers, from npm or from a mirror, checked, put in place."""
