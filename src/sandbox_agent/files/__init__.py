"""Files of the machine: every path is walked by descriptors and confined to the roots. Independent of daemon and sessions.

Everything here blocks, and is called through `Files` (`work.py`), which has its own threads.
"""
