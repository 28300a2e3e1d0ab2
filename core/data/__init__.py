"""Text that models are measured, calibrated and trained on."""
