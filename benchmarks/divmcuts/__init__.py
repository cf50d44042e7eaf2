"""DivMCuts: several diverse cuts per iteration."""
