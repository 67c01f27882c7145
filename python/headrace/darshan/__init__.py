"""Reads Darshan's logs. PyDarshan does, in a process of its own: a log may be made to mislead."""
