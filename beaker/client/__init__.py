"""A Beaker API from Python: requests from the endpoint table, transports, transfers."""
