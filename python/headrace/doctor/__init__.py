"""What Headrace finds on a machine."""
