"""`headrace bench grid`: Headrace's defaults against the best of its own settings."""
