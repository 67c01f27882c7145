"""`headrace simulate`: what a collective write takes on any machine, played instead of run."""
