"""What tools/generate makes of spec/record."""
