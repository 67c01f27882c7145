"""Programs that look MPI up in a library's handle, and the libraries made for them."""
