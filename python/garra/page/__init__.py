"""The framework of reports: run folders read and checked, numbers in words, figures, pages filled in and written."""
