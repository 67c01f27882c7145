"""Findings as text and as JSON. Nothing is worked out here."""
