"""What independent mechanisms cost together: proved bounds on delta and on epsilon."""
