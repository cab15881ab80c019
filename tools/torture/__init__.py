"""Kills a busy daemon repeatedly at random moments and checks its promises after each restart.

Users send, answer, cancel and withdraw while readers follow. Everything that was acknowledged or seen before a `kill -9`
must be there afterwards, byte for byte.
"""
