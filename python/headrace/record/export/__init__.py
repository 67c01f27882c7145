"""A record's tables as other programs read them."""
