"""The words of mails: their phrases, the rows of their tables, and a file for each subject."""
