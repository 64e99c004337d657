"""What programs ask the backend of NVIDIA GPUs for."""
