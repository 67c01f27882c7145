"""Turns a line or a program into what is executed, with Headrace under its ranks."""
