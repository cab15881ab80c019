"""Break nodes that share a log, their database and the network between them at random, under load, and check every promise.

Users and readers are those of `tools.torture`; each of their requests goes to a random node.
"""
