"""From masters to what students get: notebooks without answers, and the archive that holds them."""
