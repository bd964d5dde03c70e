"""Results as people read them: tables and, later, plots and pages."""
