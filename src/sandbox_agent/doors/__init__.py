"""Doors: translations of the operations and the log into the protocols that other clients speak."""
