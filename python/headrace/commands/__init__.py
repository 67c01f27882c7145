"""One module per command of `headrace`."""
