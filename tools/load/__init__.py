"""Runs many sessions with many readers, some slow and some reconnecting, and measures losses, latency and memory."""
