"""The web server's front: Gunicorn's processes, with an event loop before their threads.

Clients are waited for in the loop alone: for a head, for a body, and until an answer is taken. A
thread gets a whole request and gives back a whole answer, so a slow client costs a connection and
a buffer until its deadline, and neither a thread nor a connection to the database.
"""
