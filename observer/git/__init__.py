"""Running git in repositories of any origin, without running any program that they name."""
