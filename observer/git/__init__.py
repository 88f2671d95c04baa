"""Running git in repositories of any origin, without running any program that they name.

None of the modules reaches another machine but `exchange`, in repositories that observer made.
"""
