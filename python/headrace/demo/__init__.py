"""The main job in one command: what Headrace does on this machine, in about a minute."""
