"""Derive observations, fixes, summaries and notes from events.

Pure: no files, clock, network, randomness or logging. The same events give the same items, in
whatever batches they arrive. Two reducers do the work: `session_reducer` groups the events of a
session to observations, and `project_reducer` links those of all sessions of a project to fixes.
`summary` describes a session, `note_reducer` a note.

- text of observations: `drafts`, `event_text`, `analysis`
- a session: `session_state`, `session_commits`, `todos`
- failures and fixes: `project_state`, `open_failures`, `failure_tracker`
- a conversation: `turns`, `quoting`, `conversation`
"""
