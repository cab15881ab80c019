"""The durable log, and the state stored with it: sessions, queues, pending requests."""
