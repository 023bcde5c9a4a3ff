"""What a score will be where nobody has measured it."""
