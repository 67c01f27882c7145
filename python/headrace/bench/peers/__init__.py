"""`headrace bench peers`: the whole grid of jobs against plain MPI at its best."""
