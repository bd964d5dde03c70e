"""`python -m steadyrank` is the `steadyrank` command."""

from steadyrank.cli import main

if __name__ == "__main__":
    main()
