"""clusterkit."""
