"""What commands ask: options, how they are read, and the base of all questions.

A question is a frozen value made of the options that were given. From there every face goes the same way:
it asks, shows the answer, and writes the proof. Importing these modules loads nothing that computes.
"""
