"""Object files: their facts, the loader's search for them, and a small writer."""
