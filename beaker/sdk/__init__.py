"""What a customer writes against: the Integration, its hooks and its values."""
