"""Kills a daemon that is hard at work, again and again at random moments, and checks after each restart what it promised.

Users send, answer, cancel and withdraw; readers follow. Then `kill -9`. Whatever was acknowledged or seen before must be
there afterwards, byte for byte.
"""
