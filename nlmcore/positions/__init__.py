"""Positions: attention alone sees a bag of vectors; these say where each one stands."""

from nlmcore.positions.absolute import LearnedPositions, SinusoidalPositions, sinusoidal

__all__ = ["LearnedPositions", "SinusoidalPositions", "sinusoidal"]
