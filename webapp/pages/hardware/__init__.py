"""The machines, a machine, its knobs and canaries."""
