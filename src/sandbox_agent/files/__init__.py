"""Files of the machine: every path bound to the roots, descriptor by descriptor. Knows no daemon and no session.

Everything here blocks, and is called through `Files` (`work.py`), which has threads of its own.
"""
