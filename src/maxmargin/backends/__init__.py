"""Where the shards are: in this process, or in the workers of a cluster."""
