"""What tools/generate makes of spec/counters.toml."""
