"""Yu and Joachims (2008): Training structural SVMs with kernels using sampled cuts."""
