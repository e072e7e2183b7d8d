"""`beaker migrate`: what to change in a project of an earlier generation, shown or made."""
