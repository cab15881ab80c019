"""The vocabulary: events, items, inputs, capabilities. Imports no other package of the project."""
