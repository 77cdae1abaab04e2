"""Whole submissions, hostile and honest, through the whole engine: what is gained, who is harmed, what is said."""
