"""The toolset `basic-memory`: the notes of note folders, by the tools of Basic Memory."""
