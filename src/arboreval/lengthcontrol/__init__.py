"""Length-controlled output: how far it is from the length that was asked for (Cheng et al.)."""
