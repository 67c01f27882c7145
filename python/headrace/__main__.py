"""`python -m headrace` is the `headrace` command."""

from headrace.entry import main

if __name__ == "__main__":
    main()
