"""Distillation and recovery: a student that learns from a teacher, and a cut model that learns to live with the cut."""
