"""The virtual desktop of the sandbox: an X server that clients, viewers and agents look at and act on.

`Desktop` > `Display` (Xvfb and a window manager) > `XConnection`. Loaded by the first request for it.
"""
