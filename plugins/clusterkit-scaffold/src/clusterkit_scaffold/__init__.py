"""The files of a new plugin of clusterkit, which ``clusterkit new-plugin`` writes.

``files.py`` has the kinds of things that a plugin can provide, with the templates that make each (the folder
``templates``), the names of distribution, package, stage and class that follow from one name, and the writing to a
folder. ``command.py`` is the command, and ``plugin.py`` tells clusterkit about it.
"""
