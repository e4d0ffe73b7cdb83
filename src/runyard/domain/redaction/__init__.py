"""Find sensitive text and replace it before it is stored."""
