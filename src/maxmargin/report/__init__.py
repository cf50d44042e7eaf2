"""Reports on training: the certificate in words, and pictures of convergence."""
