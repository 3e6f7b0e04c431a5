"""`python -m labagent`."""

from labagent.cli import main

if __name__ == "__main__":
    main()
