"""What rules are made of: reading, numbers, models, masses along words, tables, formulae, polynomials."""
