"""The checks that Talos runs on a configuration before it takes it, one module per part of the configuration."""
