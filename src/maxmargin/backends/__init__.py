"""Backends: training on shards in this process, or in the workers of a cluster."""
