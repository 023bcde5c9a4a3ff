"""What a model costs: time, processor time, memory, energy, operations, money; and what it gives for it."""
