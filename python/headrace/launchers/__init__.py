"""The families of MPI launchers, how one is recognised, and how its lines are read."""
