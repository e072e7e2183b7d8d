"""The proposers that Beaker brings."""
