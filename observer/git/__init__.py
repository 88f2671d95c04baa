"""Running git in repositories of any origin, without running anything that they name.

`discovery` finds a repository and checks who owns it, `configuration` reads its settings,
`mirror` keeps from git those that could run a program, `process` starts git: the only module that
does.
"""
