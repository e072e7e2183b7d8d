"""`beaker demo`: an example project, its data, and the command that optimizes it from end to end."""
