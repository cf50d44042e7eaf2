"""Drop-in replacements for the programs of SVM-struct, with the same options and files."""
