"""`beaker init`: an Integration to fill in, and the configuration that names it."""
