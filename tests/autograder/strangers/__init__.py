"""Solutions by people who had read the assignments and not their checks: right in odd ways, and wrong."""
