"""Reports on training: the certificate in words, convergence plots and HTML pages."""
