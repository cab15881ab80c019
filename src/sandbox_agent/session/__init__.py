"""A session as a machine without I/O: inputs go in, effects come out, and the runtime carries them out.

What a session does:

    New ──> Idle ──> Starting ──> Handing ──> Running ──> Idle
             │ ^         (a queued   │  (the turn   │  ^
             │ │          message)   │   is being   │  └── Reopening (no process took the prompt yet)
             │ │                     v   written)   v
             │ └──────────────────  Idle      Cancelling ──> Idle
             v
           Ending ──> Ended ──> Deleting ──> Gone              Resting: the daemon stops

What it has of an agent:

    Absent ──> Opening ──> Open ──> Closing ──> Absent

Five rules carry it:
1. Offers and facts. What a client's command appends is an offer: the log may refuse it, and then nothing has happened. Everything
   else that is appended is a fact, which the log keeps until it is written.
2. The session stands still behind an offer: commands wait in the inbox, and what the agent says waits at the host.
3. Nothing is said before it is written. Answers to clients and words for the agent are owed to an append.
4. What clients see travels with the append that makes it true (`View`).
5. Every process has an attempt number, and news of an old attempt is dropped at the door.
"""
