"""SVM-struct's own programs, with its flags and files: drop-in replacements."""
