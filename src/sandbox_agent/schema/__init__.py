"""The vocabulary of the product: events, items, inputs, capabilities. Imports nothing of ours."""
