"""Whatever a benchmark leaves behind is read here.

`logs.FORMATS` are the logs of load generators in the directories of bench-lab, `results.READERS`
what the `run` command of a lab that works on jobs leaves behind. Each kind is a file, named in the
table of its folder.
"""
