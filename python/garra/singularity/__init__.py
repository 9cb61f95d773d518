"""The report of a map of singularities, and the page of one configuration."""
