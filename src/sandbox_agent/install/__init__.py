"""Finds agents, or downloads them from their publishers, npm or a mirror, verifies them and installs them."""
