"""The smallest complete clusterkit plugin: one labeler."""
