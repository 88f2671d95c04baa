"""Interpretation: what events mean. Pure: no files, clock, network, randomness or logging.

Step 6 of an event's way; the same events give the same items, in whatever batches they come.
Inside, imports run one way: `wording`, `signature`, `verdict` · `commandline`, `readers` ·
`changes`, `outcome`, `concepts`, `replies` · `told`, the tellers (`files`, `commands`,
`happenings`, `todos`), `state` · `classify` · `bursts`, `delegations`, `intents`, `sessions` ·
`fold`, `summary`, `notes`.
"""
