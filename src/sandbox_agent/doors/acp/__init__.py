"""The Agent Client Protocol: the daemon as an agent that editors and other ACP clients talk to.

`Connection` speaks JSON-RPC with one client over any transport, and to the daemon through `Operations`. A `Conversation` is
a session on a connection: it follows the session's log and sends what `Updates` makes of each event.

A connection keeps nothing that a client must find again. Sessions belong to the daemon and survive every connection.
"""
