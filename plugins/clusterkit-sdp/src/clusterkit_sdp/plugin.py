"""What the distribution offers; the module that its entry point names, and light to import."""
