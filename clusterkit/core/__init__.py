"""The protocol: spaces, outcomes, stages, their compatibility, the registry and the one loop that runs them.

Imports numpy, attrs and pluggy only.
"""
