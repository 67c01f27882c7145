"""Made by tools/generate."""
