"""A profile as other programs read it."""
