"""The durable log and what stands beside it: sessions, queues, what waits for an answer."""
