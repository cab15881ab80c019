"""A session as a state machine without I/O: it takes inputs and returns effects, which the runtime carries out.

The phases of a session:

    New ──> Idle ──> Starting ──> Handing ──> Running ──> Idle
             │ ^         (a queued   │  (the turn   │  ^
             │ │          message)   │   is being   │  └── Reopening (no process took the prompt yet)
             │ │                     v   written)   v
             │ └──────────────────  Idle      Cancelling ──> Idle
             v
           Ending ──> Ended ──> Deleting ──> Gone              Resting: the daemon stops

Its link to an agent:

    Absent ──> Opening ──> Open ──> Closing ──> Absent

Five rules:
1. Offers and facts. An append caused by a client's command is an offer: the log may refuse it, and then nothing has happened.
   Every other append is a fact, which the log keeps until it is written.
2. While an offer is open, commands wait in the inbox and the agent's output waits at the host.
3. Nothing is sent before it is written. Answers to clients and messages to the agent are released by an append.
4. What clients see travels with the append that makes it true (`View`).
5. Every process has an attempt number, and news of an old attempt is ignored.
"""
