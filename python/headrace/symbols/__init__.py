"""Names and lines of a record's call paths, from the files of this machine."""
