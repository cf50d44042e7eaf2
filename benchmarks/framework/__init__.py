"""What experiments are made of: sessions, data, peers, tables and pictures."""
