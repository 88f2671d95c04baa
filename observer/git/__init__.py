"""Running git in repositories of any origin, without running any program that they name.

`repository` finds a repository, checks who owns it and keeps from git every setting that could run
a program; `configuration` reads settings; `launch`, `command` and `process` start git. The other
modules ask: `agent_marks`, `blame`, `log`, `status`. None of them reaches another
machine; `exchange` does, in repositories that observer made for a share.
"""
