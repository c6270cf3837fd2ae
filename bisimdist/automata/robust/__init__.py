"""Which bisimilar states stay close when probabilities move a little."""
