"""What sessions are made of: call paths, what threads are doing, the data, the sessions."""
