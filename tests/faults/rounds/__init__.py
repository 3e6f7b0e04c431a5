"""`make faults`: an instance at work is killed and starved, round by round, with real processes.

Each round loads the same work (an import, live uploads, jobs of a bisect, mails), breaks something
in its middle, waits until all is done, and compares `manage.py digest` with that of a round in
which nothing was broken.
"""
