"""The page of a solver benchmark."""
