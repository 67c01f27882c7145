"""`headrace bench promises`: which promises of the MPI standard on files an MPI keeps."""
