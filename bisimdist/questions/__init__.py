"""The questions that users ask: one file each, with what is asked, how it is answered, shown and proved.

A question is a frozen value made of the options that were given. From there every face goes the same way: it
asks, shows the answer, and writes the proof. Importing these modules loads nothing that computes.
"""
