"""Public test tools: the rules of the contract, the store's conformance suite, a mock agent, a scripted model."""
