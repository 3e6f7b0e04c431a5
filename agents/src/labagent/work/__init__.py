"""Jobs: what `labagent work` does. Described in docs/agent.md, "Working for a server".

`worker` asks for jobs and delivers, `lab` runs the stages of a job. A `Lab` knows how a stage is
done: by the lab's own commands (`command_lab`) or by simulation (`labagent.simulate`).
"""
