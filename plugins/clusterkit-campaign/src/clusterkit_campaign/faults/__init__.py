"""A campaign of faults: ``python -m clusterkit_campaign faults``.

Killed processes, full disks, folders that vanish, little memory, Ctrl-C, unusual environments, threads, ways to start a
process. Each fault is real: a signal, a limit of the system, an environment variable. Only processes that the
campaign started are ended, by their numbers. POSIX only.

- ``children.py``: a command or a function in a forked process that is ended at a drawn moment.
- ``kills.py``, ``disks.py``, ``interrupts.py``, ``environments.py``, ``starts.py``, ``threads.py``: the faults.
- ``command.py``: the list of faults and the command line.
"""
