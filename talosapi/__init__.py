"""A small typed client of the Talos machine API: what has to be asked of machines that the provider does not ask."""
