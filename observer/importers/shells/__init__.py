"""Shell histories: files of bash, zsh and fish, and the database of Atuin.

What a history does not say (where, how it ended, for bash and zsh often when) is not made up.
"""
