"""How far the right class is ahead: by itself, over a norm, or as a distance in an inner layer."""
