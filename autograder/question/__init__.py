"""An exercise, declared once: what is asked, how it is checked, and which mistakes it can name."""
