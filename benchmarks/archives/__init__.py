"""Archives of bench-lab results with a known truth, and how much of it is found.

Real archives contain many things that are not so: labels of other revisions, kernels that were not
booted, files of other runs. `python -m benchmarks.archives` writes such archives by a seed, reads
them as the agent does, files each run as the server does, and compares both with the truth. A kind
of fault is one function in `directories.py` (a whole directory) or `files.py` (one run).
"""
